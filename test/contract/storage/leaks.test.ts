import { describe, expect, it } from 'vitest'
import type { PasswordHasher } from '../../../src/ports/host.js'
import type { ContractHost, HostOptions } from '../../support/hosts/hosts.js'
import { type Reply, type Send, textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { testSigningKey } from '../../support/keys.js'
import { goodPassword, person, signIn } from '../../support/people/people.js'
import { excerpt, secretsOf } from '../../support/stores/secrets.js'
import { type SpyBackend, spyBackend } from '../../support/stores/spy-backend.js'
import {
  appVerifier,
  locationOf,
  memberOf,
  oauthHost,
  waitingOf,
  webTarget,
} from '../oauth/oauth-host.js'
import { passwords, wholeLife } from './whole-life.js'

const canary = 'canary-7f3a9c-do-not-repeat'

/** Lines of a stack, and paths of sources. */
const stackTrace = /\n\s*at |\\n\s*at |node_modules|[\w-]+\.[cm]?[jt]s:\d+:\d+\)?\\?n/
const hash = /\$argon2|\$2[aby]\$/

function shownBy(reply: Reply): string {
  return [reply.status, ...reply.headers, ...reply.setCookies, reply.text].join('\n')
}

/** All that leaves the library beside its replies. */
function told({ logger, events }: ContractHost): string {
  return JSON.stringify([logger.lines, events])
}

describe('a whole life on a healthy store', () => {
  eachSurface.it('leaves no secret in replies, log or events', async (surface) => {
    const host = await openHost(withoutLimits)
    const key = await testSigningKey()
    const secrets = secretsOf(...key.split('\n').filter((line) => /^[\w+/=]{40,}$/.test(line)))
    const { email, replies, claims } = await wholeLife(host, surface, secrets)
    expect(replies.length).toBeGreaterThan(25)
    expect(secrets.values.length).toBeGreaterThan(20)

    expect(secrets.foundIn(told(host))).toEqual([])
    expect(excerpt(told(host), hash)).toBeNull()
    expect(excerpt(told(host), stackTrace)).toBeNull()
    expect(excerpt(JSON.stringify(host.events), email)).toBeNull()
    const mails = host.mailer.sent.map((mail) => JSON.stringify({ ...mail, data: null }))
    expect(secrets.foundIn(mails.join())).toEqual([])

    const asked = secretsOf(...Object.values(passwords))
    for (const mail of host.mailer.sent) if ('token' in mail.data) asked.keep(mail.data.token)
    for (const reply of replies) {
      expect(asked.foundIn(shownBy(reply))).toEqual([])
      expect(excerpt(shownBy(reply), hash)).toBeNull()
      if (reply.status >= 400) expect(secrets.foundIn(shownBy(reply))).toEqual([])
    }

    // SP-22: tokens say who, never who that is.
    expect(claims.length).toBeGreaterThan(8)
    for (const claim of claims) {
      expect(Object.keys(claim).filter((name) => !allowedClaims.includes(name))).toEqual([])
      expect(JSON.stringify(claim).toLowerCase()).not.toMatch(/canary|guest/)
    }
  })
})

const allowedClaims = [
  ...['iss', 'aud', 'sub', 'jti', 'iat', 'exp', 'tokenUse', 'sid', 'amr'],
  ...['memberships', 'authTime', 'auth_time', 'client_id', 'gen'],
]

describe('nothing of what was sent comes back in a refusal', () => {
  it('wherever it was put', async () => {
    const host = await openHost()
    const at = (path: string): string => `/v1/auth/client${path}`
    const json = { 'content-type': 'application/json' }
    const token = `${canary}.${canary}.${canary}`
    const replies = await Promise.all([
      host.send('GET', `/v1/auth/client/${canary}?q=${canary}#${canary}`),
      host.send('GET', at('/me'), { bearer: token }),
      host.send('GET', at('/me'), { headers: { authorization: canary } }),
      host.send('GET', at('/session'), { cookie: `__Host-cl_refresh=${token}` }),
      host.send('POST', at('/refresh'), { body: { refreshToken: token } }),
      host.send('POST', at('/logout'), { body: { refreshToken: token } }),
      host.send('POST', at('/login'), { body: { email: canary, password: canary } }),
      host.send('POST', at('/login'), { body: { email: 'a@b.example', password: canary } }),
      host.send('POST', at('/login'), { body: { email: 'a@b.example', [canary]: canary } }),
      host.send('POST', at('/login'), { body: `{"${canary}"`, headers: json }),
      host.send('POST', at('/login'), { body: canary, headers: { 'content-type': 'text/plain' } }),
      host.send('POST', at('/login'), { body: canary.repeat(4000), headers: json }),
      host.send('POST', at('/email/verify'), { body: { token } }),
      host.send('POST', at('/password/reset'), { body: { token, newPassword: canary } }),
      host.send('POST', at('/me/email'), { bearer: token, body: { newEmail: canary } }),
      host.send('DELETE', at('/me'), { bearer: token, body: { currentPassword: canary } }),
      host.send('DELETE', `/v1/auth/operator/sessions/${canary}`, { bearer: token }),
      host.send('POST', at('/register'), { body: { email: 'c@d.example', password: 'canary-7' } }),
      host.send('POST', at('/register'), {
        body: { email: `${canary}@x.invalid`, password: canary },
      }),
      host.send('POST', at('/session'), { headers: { origin: `https://${canary}.example` } }),
      host.send('GET', at('/session'), { headers: { origin: `https://${canary}.example` } }),
      host.send('GET', at('/me'), { headers: { 'x-forwarded-for': canary, forwarded: canary } }),
    ])
    for (const reply of replies) {
      expect(reply.status).toBeGreaterThanOrEqual(400)
      expect(excerpt(shownBy(reply), 'canary-7')).toBeNull()
    }
    expect(excerpt(told(host), 'canary-7')).toBeNull()
  })
})

describe('nothing of a flow to a provider is told', () => {
  eachSurface.it('of what it is kept together by', async (surface) => {
    const policy = { mfaPolicyOperator: 'required', mfaPolicyClient: 'required' } as const
    const host = await oauthHost({ settings: policy })
    const ada = { subject: '1815', email: 'ada@example.org', verified: true }
    const { authorizationUrl, cookie } = await host.depart(surface, 'google')
    const brought = host.stub.agree(authorizationUrl, ada)
    const back = await host.comeBack(surface, 'google', brought, cookie)
    const waiting = waitingOf(back)
    const begun = await host.send('POST', `/v1/auth/${surface}/mfa/totp`, {
      cookie: waiting.cookie,
      body: { mfaToken: waiting.mfaToken },
    })
    const url = await host.departFromApp(surface, 'google', { appState: canary })
    const app = await host.comeBack(surface, 'google', host.stub.agree(url, ada))
    const code = memberOf(app, 'code')
    const exchanged = [await host.exchange(surface, code), await host.exchange(surface, code)]
    expect([begun.status, ...exchanged.map(({ status }) => status)]).toEqual([201, 200, 400])
    await host.auth.close()
    const asked = [authorizationUrl, url].map((one) => new URL(one).searchParams)
    const secrets = secretsOf(
      ...asked.flatMap((one) =>
        ['state', 'nonce', 'code_challenge'].flatMap((name) => one.getAll(name)),
      ),
      ...[brought['code'] ?? '', cookie.slice(cookie.indexOf('=') + 1), waiting.mfaToken, code],
      ...[textOf(begun.json(), 'secret'), appVerifier, canary],
    )
    expect(secrets.values.length).toBe(13)
    expect(secrets.foundIn(told(host))).toEqual([])
  })

  it('nor of what was sent in place of it, wherever it was put', async () => {
    const host = await oauthHost()
    const at = (path: string): string => `/v1/auth/client${path}`
    const { authorizationUrl, cookie } = await host.depart('client', 'google')
    const state = new URL(authorizationUrl).searchParams.get('state') ?? ''
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const body = { redirectUri: canary, codeChallenge: canary, codeChallengeMethod: 'S256' }
    // What a page adds to its link is ignored.
    const started = await host.startWeb('client', 'google', { [canary]: canary })
    expect(started.status).toBe(302)
    const replies = await Promise.all([
      host.startWeb('client', 'google', { redirectUri: `https://${canary}.example/` }),
      host.send('GET', at(`/oauth/${canary}/start?redirectUri=${canary}`)),
      host.send('GET', at(`/oauth/${canary}/callback?state=${canary}`)),
      host.comeBack('client', 'google', { state: canary, code: canary }, cookie),
      host.comeBack('client', 'google', { state: canary, code: canary }, `${cookie}; x=${canary}`),
      host.comeBack('client', 'apple', { state: canary, user: canary, id_token: canary }),
      host.send('POST', at('/oauth/apple/callback'), {
        body: `${canary}&x=${canary}`,
        headers: form,
      }),
      host.send('POST', at('/mobile/oauth/google/start'), { body }),
      host.startApp('client', 'google', { redirectUri: `${canary}:/`, appState: canary }),
      host.exchange('client', canary),
      host.exchange('client', canary, { codeVerifier: canary.repeat(3) }),
      host.send('POST', at('/login/mfa'), {
        cookie: cookie.replace(/=.*/, `=${canary}`),
        body: { mfaToken: canary, method: 'totp', code: canary },
      }),
      host.send('POST', '/v1/auth/operator/oauth/google/link', {
        bearer: canary,
        body: { redirectUri: canary },
      }),
    ])
    const wrong = { state, error: canary, error_description: canary, iss: canary, code: canary }
    const failed = await host.comeBack('client', 'google', wrong, cookie)
    expect(locationOf(failed)).toBe(`${webTarget.client}?error=oauth_failed`)
    for (const reply of replies) expect(reply.status).toBeGreaterThanOrEqual(400)
    for (const reply of [...replies, started, failed])
      expect(excerpt(shownBy(reply), 'canary-7')).toBeNull()
    await host.auth.close()
    expect(excerpt(told(host), 'canary-7')).toBeNull()
  })
})

const failures: readonly (readonly [string, () => unknown])[] = [
  ['a message that quotes a row', () => new Error(`duplicate key (email)=(${canary})`)],
  [
    'the fields of a driver’s error',
    () =>
      Object.assign(new Error('insert failed'), {
        code: '23505',
        detail: `Key (email)=(${canary}) already exists.`,
        query: `insert into users values ('${canary}')`,
        parameters: [canary],
        stack: `Error: insert failed (${canary})\n    at query (/srv/${canary}/client.js:1:1)`,
      }),
  ],
  ['a cause', () => new Error('failed query', { cause: new Error(`params: ${canary}`) })],
  ['several errors', () => new AggregateError([new Error(canary)], canary)],
  ['a message of several lines', () => new Error(`x\n    at ${canary}\n    at ${canary}`)],
  ['a text', () => canary],
  ['an object', () => ({ message: canary })],
  ['an error of a telling name', () => Object.assign(new Error(canary), { name: canary })],
  ['a telling code', () => Object.assign(new Error(canary), { code: canary })],
]

describe.each(failures)('a store that fails with %s', (_what, reason) => {
  it('is 503 on every route, and nothing of it is told', async () => {
    const spy = spyBackend()
    const host = await openHost({ backend: spy.backend })
    const requests = await everyRequest(host)
    spy.fail(reason)
    const replies: Reply[] = []
    for (const request of requests) {
      const reply = await host.send(...request)
      replies.push(reply)
      expect([request[1], reply.status]).toEqual([request[1], 503])
    }
    await host.auth.close()
    expect(excerpt(JSON.stringify(replies.map(shownBy)), stackTrace)).toBeNull()
    expect(excerpt(replies.map(shownBy).join(), 'canary-')).toBeNull()
    expect(host.logger.lines.length).toBeGreaterThanOrEqual(requests.length)
    expect(excerpt(told(host), canary)).toBeNull()
    expect(excerpt(told(host), stackTrace)).toBeNull()
    spy.fail(null)
    await expectRecovery(host, spy)
  })
})

it('the log still tells which error it was, and where it was made', async () => {
  const spy = spyBackend()
  const host = await openHost({ backend: spy.backend })
  const stack = `Error: ${canary}\n    at Client.query (/srv/app/client.js:12:3)\n    at x (y.js:1:1)`
  const driver = Object.assign(new TypeError(canary), { code: '23505', stack })
  spy.fail(() => driver)
  const reply = await host.send('GET', '/v1/auth/client/oauth/providers')
  expect(reply.status).toBe(200)
  const fields = { error: 'TypeError', code: '23505', at: 'client.js:12:3' }
  expect(host.logger.lines.slice(-2)).toMatchObject([
    { level: 'error', message: 'the store failed: counter.hit', fields },
    { level: 'warn', fields: { error: 'AuthError', code: 'service_unavailable', cause: fields } },
  ])
  // `message` is the line's own, which a logger that spreads the fields would lose.
  expect(host.logger.lines.at(-1)).toMatchObject({
    message: 'the rate-limit counter cannot be reached; counting in this process',
    fields: { detail: 'The service is not available right now.' },
  })
  expect(host.logger.lines.at(-1)?.fields).not.toHaveProperty('message')
})

/** One request to every route that needs the store, by somebody who may make it. */
async function everyRequest(host: ContractHost): Promise<readonly Parameters<Send>[]> {
  const { email, password, id } = await person(host, 'client')
  const who = { email, password, id }
  const web = await signIn(host, 'client', who)
  const { bearer, cookie, refreshToken } = web
  const at = (path: string): string => `/v1/auth/client${path}`
  const token = `${Buffer.from(`verifyEmail:${id}`).toString('base64url')}.${'x'.repeat(43)}`
  const reset = `${Buffer.from(`resetPassword:${id}`).toString('base64url')}.${'x'.repeat(43)}`
  return [
    ['POST', at('/register'), { body: { email: 'new@example.org', password: goodPassword } }],
    ['POST', at('/login'), { body: { email, password } }],
    ['POST', at('/mobile/login'), { body: { email, password } }],
    ['POST', at('/refresh'), { body: { refreshToken } }],
    ['POST', at('/refresh-cookie'), { cookie }],
    ['GET', at('/session'), { cookie }],
    ['POST', at('/logout'), { bearer, cookie }],
    ['GET', at('/me'), { bearer }],
    ['PATCH', at('/me'), { bearer, body: { name: 'x' } }],
    [
      'POST',
      at('/me/email'),
      { bearer, body: { newEmail: 'x@example.org', currentPassword: password } },
    ],
    ['DELETE', at('/me'), { bearer, body: { currentPassword: password } }],
    ['POST', at('/email/verify'), { body: { token } }],
    ['POST', at('/email/verify/resend'), { body: { email } }],
    ['POST', at('/password/forgot'), { body: { email } }],
    ['POST', at('/password/reset'), { body: { token: reset, newPassword: goodPassword } }],
  ]
}

/** Nobody was signed out by the outage. */
async function expectRecovery(host: ContractHost, spy: SpyBackend): Promise<void> {
  const who = await person(host, 'client')
  const { bearer, cookie } = await signIn(host, 'client', who)
  spy.fail(() => new Error(canary))
  const during = await host.send('GET', '/v1/auth/client/session', { cookie })
  expect([during.status, during.setCookies]).toEqual([503, []])
  spy.fail(null)
  expect((await host.send('GET', '/v1/auth/client/session', { cookie })).status).toBe(200)
  expect((await host.send('GET', '/v1/auth/client/me', { bearer })).status).toBe(200)
}

describe.each(failures)('a host function that fails with %s', (_what, reason) => {
  const fail = async (): Promise<never> => Promise.reject(reason())
  const failAtOnce = (): never => {
    throw reason()
  }

  async function lived(options: HostOptions): Promise<ContractHost> {
    const host = await openHost(options)
    const who = await person(host, 'client')
    const { bearer, cookie } = await signIn(host, 'client', who)
    const at = (path: string): string => `/v1/auth/client${path}`
    const body = { email: who.email }
    const replies = [
      await host.send('POST', at('/password/forgot'), { body }),
      await host.send('GET', at('/me'), { bearer }),
      await host.send('POST', at('/refresh-cookie'), { cookie }),
      await host.send('POST', at('/logout'), { bearer }),
    ]
    await host.auth.close()
    const shown = replies.map(shownBy).join('\n')
    expect(excerpt(shown, canary)).toBeNull()
    expect(excerpt(shown, stackTrace)).toBeNull()
    expect(excerpt(told(host), canary)).toBeNull()
    expect(excerpt(told(host), stackTrace)).toBeNull()
    return host
  }

  it.each([
    ['mailer', { mailer: { send: fail } }],
    ['mailer, at once', { mailer: { send: failAtOnce } }],
    ['authorizer', { authorizer: { check: fail } }],
    ['authorizer, at once', { authorizer: { check: failAtOnce } }],
    ['onEvent', { onEvent: fail }],
    ['onEvent, at once', { onEvent: failAtOnce }],
  ] as const)('is not quoted: %s', async (_name, options) => {
    const host = await lived(options)
    expect(host.logger.lines.filter(({ level }) => level === 'error').length).toBeGreaterThan(0)
  })

  it('is not quoted: the function that reads the keys', async () => {
    const keys = { current: await testSigningKey() }
    let reads = 0
    const host = await openHost({
      keys: async () => {
        reads += 1
        return reads === 1 ? keys : fail()
      },
    })
    await host.clock.advance(3600_000)
    const reply = await host.send('GET', '/v1/auth/client/jwks')
    expect([reply.status, reply.code]).toEqual([503, 'service_unavailable'])
    expect(excerpt(shownBy(reply), canary)).toBeNull()
    expect(reads).toBeGreaterThan(2)
    expect(host.logger.lines.map(({ level }) => level)).toContain('error')
    expect(excerpt(told(host), canary)).toBeNull()
    expect(excerpt(told(host), stackTrace)).toBeNull()
  })

  it('is not quoted: the password hasher', async () => {
    const implementation: PasswordHasher = { hash: fail, verify: failAtOnce }
    const host = await openHost({ hash: { implementation } })
    const body = { email: 'ada@example.org', password: goodPassword }
    for (const path of ['/login', '/mobile/login', '/register']) {
      const reply = await host.send('POST', `/v1/auth/client${path}`, { body })
      expect([reply.status, reply.code]).toEqual([500, 'internal_error'])
      expect(excerpt(shownBy(reply), canary)).toBeNull()
    }
    expect(host.logger.lines.length).toBeGreaterThanOrEqual(3)
    expect(excerpt(told(host), canary)).toBeNull()
    expect(excerpt(told(host), stackTrace)).toBeNull()
  })
})

describe('a logger that fails itself', () => {
  const failing = {
    throws: () => {
      throw new Error(canary)
    },
    rejects: async () => Promise.reject(new Error(canary)),
  }

  it.each(Object.entries(failing))('when it %s, changes no reply', async (_how, write) => {
    const spy = spyBackend()
    const logger = { debug: write, info: write, warn: write, error: write }
    const host = await openHost({ backend: spy.backend, logger })
    const requests = await everyRequest(host)
    spy.fail(() => new Error(canary))
    for (const request of requests) {
      const reply = await host.send(...request)
      expect([request[1], reply.status]).toEqual([request[1], 503])
      expect(excerpt(shownBy(reply), canary)).toBeNull()
    }
    await host.auth.close()
  })
})
