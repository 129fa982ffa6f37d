import { describe, expect, it } from 'vitest'
import { defineModule } from '../../../src/config/index.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import { memoryHost } from '../../support/hosts/hosts.js'
import { eachSampleStore } from '../../support/hosts/matrix.js'
import { testConfigKeys } from '../../support/keys.js'
import { signedInPerson } from '../../support/people/people.js'
import { configHost, mailModule, serviceToken } from './config-host.js'

eachSampleStore.describe('reading the configuration', (kind) => {
  it('lists modules, fields and environments', async () => {
    const host = await configHost({}, kind)
    expect((await host.get('')).json()).toEqual({
      items: [
        { name: 'auth', activeEnvironment: 'production', needsRestart: false },
        { name: 'mail', activeEnvironment: 'production', needsRestart: false },
      ],
    })
    const mail = (await host.get('/mail')).json()
    expect(mail).toEqual({
      name: 'mail',
      activeEnvironment: 'production',
      needsRestart: false,
      environments: [
        { name: 'production', active: true, revision: 1 },
        { name: 'sandbox', active: false, revision: 1 },
        { name: 'spare', active: false, revision: 1 },
      ],
      fields: JSON.parse(JSON.stringify(mailModule().fields)),
    })
    const auth = (await host.get('/auth')).json()
    expect(auth['fields']).toHaveLength(63)
  })

  it('tells of the one setting that a cleared value does not set back to its default', async () => {
    const host = await configHost({}, kind)
    const ofModule = async (name: string) => {
      const { fields } = (await host.get(`/${name}`)).json()
      return (Array.isArray(fields) ? fields : []).filter(({ emptyIsValue }) => emptyIsValue)
    }
    expect(await ofModule('auth')).toMatchObject([{ key: 'sessionAbsoluteTTL', default: '720h' }])
    expect(await ofModule('mail')).toEqual([])
  })

  it('shows an environment without its secrets, and where values come from', async () => {
    const host = await configHost({}, kind)
    await host.patch({
      config: {
        sender: 'a@b.example',
        password: 'S3CR3T-one',
        token: 'S3CR3T-two',
        port: '',
        'hooks.gmail-eu.__label': 'Gmail EU',
        'hooks.gmail-eu.key': 'S3CR3T-three',
      },
      recordLists: [{ field: 'hooks', create: ['gmail-eu', 'b'], remove: [] }],
    })
    expect(await host.read()).toEqual({
      module: 'mail',
      environment: 'production',
      active: true,
      revision: 2,
      config: { sender: 'a@b.example', port: '' },
      secretsSet: ['hooks.gmail-eu.key', 'password', 'token'],
      recordLists: [
        {
          field: 'hooks',
          elements: [
            { slug: 'gmail-eu', label: 'Gmail EU', url: '', key: null },
            { slug: 'b', label: 'b', url: '', key: null },
          ],
        },
        { field: 'few', elements: [] },
      ],
      sources: {
        sender: 'store',
        password: 'store',
        token: 'store',
        port: 'default',
        secure: 'default',
        hooks: 'store',
        few: 'default',
      },
    })
    const { values } = await host.raw()
    expect(Object.values(values).every((text) => typeof text === 'string')).toBe(true)
    expect(values['hooks.__items']).toBe('gmail-eu,b')
    expect(values['hooks.gmail-eu.__label']).toBe('Gmail EU')
    for (const key of ['password', 'token', 'hooks.gmail-eu.key']) {
      expect(values[key]).toMatch(/^enc:v1:test:/)
    }
  })

  it.each([
    ['/nobody', 'module_not_found'],
    ['/Mail', 'module_not_found'],
    ['/mail%2Fenvironments', 'module_not_found'],
    ["/x'--", 'module_not_found'],
    ['/__proto__', 'module_not_found'],
    ['/mail/environments/nowhere', 'environment_not_found'],
    ['/mail/environments/Production', 'environment_not_found'],
    ['/mail/environments/%70roduction', 'environment_not_found'],
    ['/nobody/environments/production', 'module_not_found'],
    ['/mail/environments/nowhere/revisions', 'environment_not_found'],
    ['/mail/', 'not_found'],
    ['/mail/environments', 'not_found'],
    ['/mail/environments/', 'not_found'],
    ['/mail/environments/production/', 'not_found'],
    ['/{name}', 'module_not_found'],
  ])('GET %s is 404 %s', async (path, code) => {
    const host = await configHost({}, kind)
    expectProblem(await host.get(path), 404, code)
  })

  it('a method that is not there is 405', async () => {
    const host = await configHost({}, kind)
    const reply = await host.change('PUT', '', {})
    expectProblem(reply, 405, 'method_not_allowed')
    expect(reply.headers.get('allow')).toBe('GET, HEAD, PATCH')
    expect((await host.change('PATCH', '/active-environment', {})).headers.get('allow')).toBe('PUT')
  })
})

describe('who may', () => {
  it('asks for reading and managing, by the names the host chose', async () => {
    const asked: string[] = []
    const authorizer = {
      async check({ permission, kind }: { permission: string; kind: string }) {
        asked.push(`${kind} ${permission}`)
        return !permission.endsWith('manage')
      },
    }
    const host = await configHost({ authorizer })
    expect((await host.get('')).status).toBe(200)
    expectProblem(await host.patch({ config: { sender: 'x' } }), 403, 'permission_denied')
    const put = await host.change('PUT', '/active-environment', { environment: 'sandbox' })
    expectProblem(put, 403, 'permission_denied')
    // The kind of a person is the empty text.
    const manage = ' system.modules.manage'
    expect(asked).toEqual([' system.modules.read', manage, manage])
    const other = await configHost({
      authorizer,
      permissions: { modulesRead: 'cfg.see', modulesManage: 'cfg.manage' },
    })
    asked.splice(0)
    await other.get('/mail')
    await other.patch({})
    expect(asked).toEqual([' cfg.see', ' cfg.manage'])
  })

  it('a service account may as well, and is named as who did it', async () => {
    const host = await configHost()
    const { id, bearer } = await serviceToken(host)
    const path = '/v1/admin/modules/mail/environments/production'
    expect((await host.send('GET', path, { bearer })).status).toBe(200)
    const body = { config: { sender: 'robot' } }
    expect((await host.send('PATCH', path, { bearer, body })).status).toBe(200)
    expect(await host.auth.config.history('mail', 'production')).toMatchObject([
      { revision: 2, writtenBy: id, changed: ['sender'] },
      { revision: 1, writtenBy: null },
    ])
  })

  it('the default authorizer lets nobody; without a token it is a plain 401; clients are told', async () => {
    const { defaultAuthorizer } = await import('../../../src/domain/authorization/roles.js')
    const host = await configHost({ authorizer: defaultAuthorizer })
    expectProblem(await host.get(''), 403, 'permission_denied')
    expectProblem(await host.send('GET', '/v1/admin/modules'), 401)
    const { bearer } = await signedInPerson(host, 'client')
    const foreign = await host.send('GET', '/v1/admin/modules', { bearer })
    expectProblem(foreign, 401, 'audience_mismatch')
  })

  it('says 403 before 404, and 404 before it looks at the body', async () => {
    const denied = await configHost({ authorizer: { check: async () => false } })
    expectProblem(await denied.get('/nobody'), 403, 'permission_denied')
    const host = await configHost()
    const { bearer } = host.operator
    for (const [path, code] of [
      ['/nobody', 'module_not_found'],
      ['/nobody/environments/x', 'module_not_found'],
      ['/mail/environments/nowhere', 'environment_not_found'],
    ] as const) {
      const reply = await host.send('PATCH', `/v1/admin/modules${path}`, { bearer, body: '{' })
      expectProblem(reply, 404, code)
    }
    const put = '/v1/admin/modules/nobody/active-environment'
    expectProblem(await host.send('PUT', put, { bearer, body: '[]' }), 404, 'module_not_found')
  })

  it('the operator surface alone has the routes, the client surface has none', async () => {
    const operator = await configHost({ mount: 'operator' })
    expect((await operator.get('/mail')).status).toBe(200)
    const client = await memoryHost.start({ mount: 'client', configKeys: testConfigKeys })
    const reply = await client.send('GET', '/v1/admin/modules')
    await client.close()
    // Express's own page: the library passed the request on.
    expect([reply.status, reply.headers.get('content-type')]).toEqual([
      404,
      'text/html; charset=utf-8',
    ])
  })

  it('on one host for both, /v1/admin is the operators whatever else comes along', async () => {
    const host = await configHost({ defaultSurface: 'client' })
    expect((await host.get('')).status).toBe(200)
    const headers = { cookie: '__Host-cl_refresh=x' }
    const { bearer } = host.operator
    expect((await host.send('GET', '/v1/admin/modules', { bearer, headers })).status).toBe(200)
  })

  it('counts 60 requests a minute by one user', async () => {
    const host = await configHost({
      surfaces: {
        operator: { baseUrl: 'https://admin.example.com' },
        client: { baseUrl: 'https://app.example.com' },
      },
    })
    const statuses: number[] = []
    for (let count = 0; count < 61; count += 1) statuses.push((await host.get('')).status)
    expect(statuses.slice(0, 60).every((status) => status === 200)).toBe(true)
    expectProblem(await host.get('/mail'), 429, 'rate_limited')
    expect(statuses[60]).toBe(429)
  })

  it('a field that is named like a member of every object has the source of its value', async () => {
    const fields = ['constructor', 'toString'].map((key) => ({
      key,
      label: key,
      type: 'FieldString' as const,
      group: 'Odd',
    }))
    const host = await configHost({
      modules: [defineModule({ name: 'mail', environments: ['production'], fields })],
    })
    const sourcesNow = async () => (await host.read())['sources']
    expect(await sourcesNow()).toEqual({ constructor: 'default', toString: 'default' })
    await host.patch({ config: { constructor: 'x' } })
    expect(await sourcesNow()).toEqual({ constructor: 'store', toString: 'default' })
  })
})
