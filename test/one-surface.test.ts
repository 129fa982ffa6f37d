import { describe, expect, it } from 'vitest'
import { fetchHandler } from '../adapters/fetch.js'
import { memory } from '../adapters/memory/index.js'
import { createAuth } from '../src/create-auth.js'
import type { Mountable } from '../src/http/http-message.js'
import { roleAuthorizer } from '../src/index.js'
import { fakeClock } from '../src/testing/fake-clock.js'
import { cheapHash } from './support/hosts/test-auth.js'
import { testConfigKeys, testSigningKey } from './support/keys.js'
import { recordingLogger } from './support/outside/recording-logger.js'
import { recordingMailer } from './support/outside/recording-mailer.js'
import { goodPassword } from './support/people/people.js'

const baseUrl = 'https://app.example.com'
const email = 'ada@example.org'

/** What every host here has, and the names of the collections that it prepares. */
async function parts() {
  const backend = memory()
  const prepared: string[] = []
  const store = {
    ...backend.store,
    prepare: async (specs: Parameters<typeof backend.store.prepare>[0]) => {
      prepared.push(...specs.map(({ name }) => name))
      await backend.store.prepare(specs)
    },
  }
  const options = {
    backend: { ...backend, store },
    keys: { current: await testSigningKey() },
    configKeys: testConfigKeys,
    mailer: recordingMailer(),
    authorizer: roleAuthorizer(),
    clock: fakeClock(Date.UTC(2026, 0, 1)),
    logger: recordingLogger(),
    hash: cheapHash,
    env: {},
  } as const
  return { options, prepared }
}

/** Asks a mounted router, as a host with the adapter for `fetch` does. */
function asked(mounted: Mountable) {
  const handle = fetchHandler(mounted)
  return async (method: string, path: string, body?: object, bearer?: string) => {
    const reply = await handle(
      new Request(`${baseUrl}${path}`, {
        method,
        headers: {
          'content-type': 'application/json',
          ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    )
    const text = (await reply?.text()) ?? ''
    return { status: reply?.status, text, json: text.startsWith('{') ? JSON.parse(text) : null }
  }
}

describe('a host that has clients alone', () => {
  const started = async () => {
    const { options, prepared } = await parts()
    // As a host without types leaves the other one out.
    const surfaces = { client: { baseUrl }, operator: undefined } as { client: { baseUrl: string } }
    const auth = await createAuth({ ...options, surfaces })
    await auth.migrate()
    return { auth, prepared, options }
  }

  it('signs people in, on any host name, and ends their sessions', async () => {
    const { auth } = await started()
    await auth.client.users.create({ email, password: goodPassword, emailVerified: true })
    const ask = asked(auth.both)
    const login = await ask('POST', '/v1/auth/client/login', { email, password: goodPassword })
    expect(login).toMatchObject({ status: 200, json: { status: 'authenticated' } })
    const bearer = login.json.accessToken
    expect((await ask('GET', '/v1/auth/client/me', undefined, bearer)).status).toBe(200)
    const [, claims = ''] = bearer.split('.')
    expect(JSON.parse(atob(claims))).toMatchObject({ iss: baseUrl })
    expect(await auth.terminateAllSessions()).toBe(1)
    expect((await ask('GET', '/v1/auth/client/me', undefined, bearer)).json).toMatchObject({
      code: 'session_revoked',
    })
    await auth.close()
  })

  it('has no routes and no collections of operators, nor of machines', async () => {
    const { auth, prepared } = await started()
    const ask = asked(auth.both)
    for (const path of ['/v1/auth/operator/jwks', '/v1/admin/modules', '/v1/auth/oauth2/token']) {
      expect((await ask('GET', path)).status).toBe(404)
    }
    expect((await ask('GET', '/v1/auth/client/jwks')).status).toBe(200)
    expect(prepared.filter((name) => /^operator_(?!module)|^service_account/.test(name))).toEqual(
      [],
    )
    expect(prepared).toContain('client_users')
    await auth.close()
  })

  it('names the keys of its tokens in the metadata, and no endpoint for machines', async () => {
    const { auth } = await started()
    const known = await asked(auth.metadata)('GET', '/.well-known/oauth-authorization-server')
    expect(known.json).toEqual({
      issuer: baseUrl,
      jwks_uri: `${baseUrl}/v1/auth/client/jwks`,
      response_types_supported: [],
      grant_types_supported: [],
    })
    await auth.close()
  })

  it('names the option when its code asks for operators', async () => {
    const { auth } = await started()
    // @ts-expect-error: the types say that there are none.
    expect(() => auth.operator).toThrow('option "surfaces.operator" is not given')
    await expect(auth.terminateAllSessions({ surfaces: ['operator'] })).rejects.toMatchObject({
      code: 'invalid_request',
    })
    await auth.close()
  })

  it('keeps the settings of operators, which say that they have no effect', async () => {
    const { auth } = await started()
    const { fields } = await auth.config.describe('auth')
    expect(fields).toHaveLength(63)
    const told = fields.filter(({ label }) => label.endsWith('this host has no operator surface)'))
    expect(told.map(({ key }) => key).toSorted()).toEqual(
      fields.flatMap(({ key, surface }) => (surface === 'operator' ? [key] : [])).toSorted(),
    )
    expect(told.length).toBeGreaterThan(5)
    await auth.config.change('auth', { config: { mfaPolicyOperator: 'required' } })
    await expect(
      auth.config.change('auth', { config: { mfaPolicyOperator: 'perhaps' } }),
    ).rejects.toMatchObject({ code: 'auth.value_malformed' })
    await auth.close()
  })

  it('sweeps, and finds nothing wrong in the diagnosis of the absent surface', async () => {
    const { auth, options } = await started()
    await options.clock.advance(60 * 60 * 1000)
    const findings = await auth.diagnose({ offline: true })
    expect(findings.filter(({ problem }) => problem.includes('operator'))).toEqual([])
    expect(options.logger.lines.filter(({ message }) => !message.includes('2048 bits'))).toEqual([])
    await auth.close()
  })
})

describe('a host that has operators alone', () => {
  it('administers machines and settings, and knows nobody on the other surface', async () => {
    const { options, prepared } = await parts()
    const auth = await createAuth({ ...options, surfaces: { operator: { baseUrl } } })
    await auth.migrate()
    expect(prepared.filter((name) => name.startsWith('client_'))).toEqual([])
    expect(prepared).toContain('service_account_credentials')
    const root = { email, password: goodPassword, emailVerified: true } as const
    const { id } = await auth.operator.users.create({ ...root, systemRole: 'super_admin' })
    const ask = asked(auth.both)
    const login = await ask('POST', '/v1/auth/operator/login', { email, password: goodPassword })
    const bearer = login.json.accessToken
    expect((await ask('GET', '/v1/admin/modules', undefined, bearer)).status).toBe(200)
    const mails = `/v1/auth/operator/users/${id}/password-reset`
    expect((await ask('POST', mails, { surface: 'client' }, bearer)).json).toMatchObject({
      status: 404,
      code: 'user_not_found',
    })
    expect((await ask('POST', mails, {}, bearer)).status).toBe(202)
    expect((await ask('POST', '/v1/auth/client/login', {})).status).toBe(404)
    // @ts-expect-error: the types say that there are none.
    expect(() => auth.client).toThrow('option "surfaces.client" is not given')
    await auth.close()
  })
})
