import { describe, expect, it } from 'vitest'
import { memory } from '../adapters/memory/index.js'
import { createAuth } from '../src/create-auth.js'
import { OptionsError } from '../src/errors/index.js'
import type { AuthOptions } from '../src/options.js'
import type { Auth } from '../src/setup/auth.js'
import { loginStatus } from './support/hosts/fetch-host.js'
import { testConfigKeys, testSigningKey } from './support/keys.js'
import { recordingMailer } from './support/outside/recording-mailer.js'

const operator = { baseUrl: 'https://admin.example.com' }
const client = { baseUrl: 'https://app.example.com' }

/** The required options and nothing else. */
async function bareOptions(): Promise<AuthOptions> {
  return {
    backend: memory(),
    keys: { current: await testSigningKey() },
    configKeys: testConfigKeys,
    surfaces: { operator, client },
    mailer: recordingMailer(),
  }
}

/** As a JavaScript host might call it. */
async function created(changes: unknown): Promise<Auth> {
  const options = { ...(await bareOptions()), env: {}, ...Object(changes) }
  return createAuth(options)
}

async function refusal(changes: unknown): Promise<OptionsError> {
  const error: unknown = await created(changes).catch((reason: unknown) => reason)
  if (!(error instanceof OptionsError)) throw new Error(`not refused: ${String(error)}`)
  return error
}

const surface = (changes: object) => ({ surfaces: { operator, client: { ...client, ...changes } } })
const provided = (id: string, endpoints: object, more: object = {}) => ({
  oauth: { providers: { [id]: { endpoints } }, ...more },
})
const sender = { key: 'sender', label: 'Sender', type: 'FieldString', group: 'Mail' }
const moduleOf = (changes: object) => ({
  name: 'mail',
  environments: ['production'],
  fields: [sender],
  ...changes,
})
const firebase = { signerKey: 'AAAA', saltSeparator: 'Bw==', rounds: 8, memCost: 14 }
const weakHash = { memoryCost: 64, timeCost: 1, parallelism: 1 }

describe('endpoints of identity providers', () => {
  it('may be a cloud of its own, and, where a test says so, this machine', async () => {
    const issuer = 'https://login.microsoftonline.us/{tenantid}/v2.0'
    const authorization = 'https://login.microsoftonline.us/{tenant}/oauth2/v2.0/authorize'
    await created(provided('microsoft', { issuer, authorization }))
    const insecure = { allowInsecureLoopback: true }
    for (const host of ['localhost', '127.0.0.1', '[::1]']) {
      await created(provided('google', { token: `http://${host}:8080/token` }, insecure))
    }
  })
})

describe('construction names the option and the remedy', () => {
  it.each<[string, unknown]>([
    ['backend', { backend: undefined }],
    ['backend', { backend: 'postgres://localhost' }],
    ['backend', { backend: null }],
    ['backend', { backend: memory }],
    ['backend.store', { backend: {} }],
    ['backend.store', { backend: { ...memory(), store: {} } }],
    ['backend.denylist', { backend: { ...memory(), denylist: undefined } }],
    ['backend.counter', { backend: { ...memory(), counter: { hit() {} } } }],
    ['backend.counter', { backend: { ...memory(), counter: { ...memory().counter, add: true } } }],
    ['keys', { keys: undefined }],
    ['keys', { keys: null }],
    ['keys', { keys: 'a PEM text' }],
    ['keys', { keys: {} }],
    ['keys', { keys: { current: 5 } }],
    ['keys.current', { keys: { current: '' } }],
    ['keys.current', { keys: { current: 'not a PEM text' } }],
    ['keys', { keys: async () => null }],
    ['keys.current', { keys: async () => ({}) }],
    ['surfaces', { surfaces: undefined }],
    ['surfaces', { surfaces: {} }],
    ['surfaces', { surfaces: { operator: undefined } }],
    ['surfaces.operator.baseUrl', { surfaces: { client, operator: {} } }],
    ['defaultSurface', { surfaces: { client }, defaultSurface: 'operator' }],
    ['surfaces.admin', { surfaces: { operator, client, admin: client } }],
    ['surfaces.client.baseUrl', surface({ baseUrl: undefined })],
    ['surfaces.client.baseUrl', surface({ baseUrl: 5 })],
    ['surfaces.client.baseUrl', surface({ baseUrl: 'app.example.com' })],
    ['surfaces.client.baseUrl', surface({ baseUrl: 'http://app.example.com' })],
    ['surfaces.client.baseUrl', surface({ baseUrl: 'http://localhost.evil.example' })],
    ['surfaces.client.baseUrl', surface({ baseUrl: 'http://192.168.1.5' })],
    ['surfaces.client.baseUrl', surface({ baseUrl: 'ftp://localhost' })],
    ['surfaces.client.baseUrl', surface({ baseUrl: 'https://app.example.com/?x=1' })],
    ['surfaces.client.baseUrl', surface({ baseUrl: 'https://app.example.com/#x' })],
    ['surfaces.client.baseUrl', surface({ baseUrl: 'https://me@app.example.com' })],
    ['surfaces.client.baseUrl', surface({ baseUrl: 'https://:secret@app.example.com' })],
    // 268 characters as it is typed, and 1,518 as it is sent.
    ['surfaces.client.baseUrl', surface({ baseUrl: `https://a.example/${'é'.repeat(250)}` })],
    ['surfaces.client.baseUrl', surface({ baseUrl: `https://a.example/${'a/../'.repeat(100)}` })],
    ['surfaces.client.routesUrl', surface({ routesUrl: `https://a.example/${'é'.repeat(90)}` })],
    ['surfaces.client.pages.login', surface({ pages: { login: `/${'名'.repeat(230)}` } })],
    [
      'surfaces.client.allowedOrigins.0',
      surface({ allowedOrigins: [`https://${'a.'.repeat(260)}b`] }),
    ],
    [
      'surfaces.client.cookiePath',
      surface({ cookieDomain: 'example.com', cookiePath: `/${'a'.repeat(255)}` }),
    ],
    [
      'oauth.providers.google.endpoints.authorization',
      provided('google', { authorization: `https://a.example/${'名'.repeat(230)}` }),
    ],
    ['surfaces.client.cookieDomain', surface({ cookieDomain: '.example.com' })],
    ['surfaces.client.cookieDomain', surface({ cookieDomain: 'other.example' })],
    ['surfaces.client.cookieDomain', surface({ cookieDomain: 'p.example.com' })],
    ['surfaces.client.cookieDomain', surface({ cookieDomain: 'example.com; Secure' })],
    ['surfaces.client.cookieDomain', surface({ cookieDomain: 5 })],
    [
      'surfaces.client.cookieDomain',
      surface({ routesUrl: 'https://api.example.com', cookieDomain: 'app.example.com' }),
    ],
    [
      'surfaces.client.cookieDomain',
      surface({ routesUrl: 'https://api.example.com', cookieDomain: 'api.example.com' }),
    ],
    ['surfaces.client.cookiePath', surface({ cookiePath: '/auth' })],
    ['surfaces.client.cookieNamePrefix', surface({ cookieNamePrefix: '__Host-' })],
    ['surfaces.client.cookieNamePrefix', surface({ cookieNamePrefix: 'a=b' })],
    ['surfaces.client.cookiePath', surface({ cookiePath: 'auth', cookieDomain: 'example.com' })],
    ['surfaces.client.cookiePath', surface({ cookiePath: '/a;b', cookieDomain: 'example.com' })],
    ['surfaces.client.cookiePath', surface({ cookiePath: 5 })],
    ...['/auth', '/identity/v1/a', '/v1/auth', '/identity/v2', '/Identity'].map(
      (cookiePath): [string, object] => [
        'surfaces.client.cookiePath',
        surface({
          ...{ cookiePath, cookieDomain: 'example.com' },
          routesUrl: 'https://app.example.com/identity/',
        }),
      ],
    ),
    ['surfaces.client.routesUrl', surface({ routesUrl: '/identity' })],
    ['surfaces.client.routesUrl', surface({ routesUrl: 'http://app.example.com' })],
    ['surfaces.client.routesUrl', surface({ routesUrl: 'https://app.example.com/?x' })],
    [
      'surfaces.client.routesUrl',
      surface({ baseUrl: 'http://localhost:5173', routesUrl: 'https://api.example.com' }),
    ],
    ['surfaces.client.routesUrl', surface({ routesUrl: 'http://localhost:3000' })],
    ['surfaces.client.hosts', surface({ hosts: 'app.internal' })],
    ['surfaces.client.hosts.0', surface({ hosts: ['https://app.internal'] })],
    ['surfaces.client.hosts.0', surface({ hosts: ['app.internal/'] })],
    ['surfaces.client.hosts.0', surface({ hosts: ['APP.internal'] })],
    ['surfaces.client.hosts.0', surface({ hosts: ['app.internal.'] })],
    ['surfaces.client.hosts.0', surface({ hosts: ['*.internal'] })],
    ['surfaces.client.hosts.0', surface({ hosts: ['app.internal:99999'] })],
    ['surfaces.client.hosts.0', surface({ hosts: ['::1'] })],
    ['surfaces.client.hosts.1', surface({ hosts: ['[::1]:3000', ''] })],
    ['oauth.providers.facebook', provided('facebook', {})],
    [
      'oauth.providers.google.endpoints.tokens',
      provided('google', { tokens: 'https://a.example' }),
    ],
    ['oauth.providers.google.endpoints.token', provided('google', { token: 'http://a.example' })],
    ['oauth.providers.google.endpoints.token', provided('google', { token: '/token' })],
    [
      'oauth.providers.google.endpoints.token',
      provided('google', { token: 'https://user@a.example/token' }),
    ],
    ['oauth.providers.apple.endpoints.jwks', provided('apple', { jwks: 'http://localhost/keys' })],
    [
      'oauth.providers.github.endpoints.user',
      provided('github', { user: 'http://10.0.0.1/' }, { allowInsecureLoopback: true }),
    ],
    ['oauth.allowInsecureLoopback', provided('google', {}, { allowInsecureLoopback: 'yes' })],
    ['surfaces.client.allowedOrigins', surface({ allowedOrigins: 'https://a.example' })],
    ['surfaces.client.allowedOrigins.0', surface({ allowedOrigins: ['https://a.example/'] })],
    ['surfaces.client.allowedOrigins.0', surface({ allowedOrigins: ['http://a.example'] })],
    ['surfaces.client.allowedOrigins.0', surface({ allowedOrigins: ['*'] })],
    ['surfaces.client.allowedOrigins.0', surface({ allowedOrigins: ['https://*.a.example'] })],
    ['surfaces.client.baseUrl', surface({ baseUrl: 'https://*.example.com' })],
    ['surfaces.client.allowedOrigins.0', surface({ allowedOrigins: ['null'] })],
    ['surfaces.client.allowedOrigins.0', surface({ allowedOrigins: ['capacitor://localhost/'] })],
    ['surfaces.client.allowedOrigins.0', surface({ allowedOrigins: ['Capacitor://localhost'] })],
    ['surfaces.client.allowedOrigins.0', surface({ allowedOrigins: ['capacitor://*'] })],
    ['surfaces.client.allowedOrigins.0', surface({ allowedOrigins: ['capacitor://a.example:1'] })],
    ['surfaces.client.allowedOrigins.0', surface({ allowedOrigins: ['capacitor://me@localhost'] })],
    ['surfaces.client.allowedOrigins.0', surface({ allowedOrigins: ['chrome-extension://*'] })],
    ['surfaces.client.allowedOrigins.0', surface({ allowedOrigins: ['chrome-extension://abcd'] })],
    [
      'surfaces.client.allowedOrigins.0',
      surface({ allowedOrigins: ['moz-extension://localhost'] }),
    ],
    ['surfaces.client.allowedOrigins.0', surface({ allowedOrigins: ['file://'] })],
    ['surfaces.client.baseUrl', surface({ baseUrl: 'capacitor://localhost' })],
    [
      'surfaces.client.webauthn.origins.0',
      surface({ webauthn: { origins: ['capacitor://localhost'] } }),
    ],
    ['surfaces.client.allowedOrigins.1', surface({ allowedOrigins: ['https://a.example', 1] })],
    ['surfaces.client.allowedHeaders', surface({ allowedHeaders: 'x-tenant' })],
    ['surfaces.client.allowedHeaders.0', surface({ allowedHeaders: ['*'] })],
    ['surfaces.client.allowedHeaders.0', surface({ allowedHeaders: [''] })],
    ['surfaces.client.allowedHeaders.0', surface({ allowedHeaders: ['x-tenant, x-other'] })],
    ['surfaces.client.allowedHeaders.0', surface({ allowedHeaders: ['x-tenant\r\nx: y'] })],
    ['surfaces.client.allowedHeaders.0', surface({ allowedHeaders: ['x'.repeat(65)] })],
    ['surfaces.client.allowedHeaders.1', surface({ allowedHeaders: ['x-tenant', 'x-é'] })],
    ['surfaces.client.webauthn', surface({ webauthn: 5 })],
    ['surfaces.client.webauthn.rpId', surface({ webauthn: { rpId: 'example.org' } })],
    ['surfaces.client.webauthn.rpId', surface({ webauthn: { rpId: 'p.example.com' } })],
    ['surfaces.client.webauthn.rpId', surface({ webauthn: { rpId: 'com' } })],
    ['surfaces.client.webauthn.rpId', surface({ webauthn: { rpId: 'https://example.com' } })],
    ['surfaces.client.webauthn.rpID', surface({ webauthn: { rpID: 'example.com' } })],
    ...[
      'https://www.example.com',
      'http://app.example.com',
      'https://app.example.com/',
      'android:apk-key-hash:tooShort',
      5,
    ].map((origin): [string, object] => [
      'surfaces.client.webauthn.origins.1',
      surface({ webauthn: { origins: ['https://go.app.example.com', origin] } }),
    ]),
    ['surfaces.client.pages', surface({ pages: 5 })],
    ['surfaces.client.pages.verifyEmail', surface({ pages: { verifyEmail: 5 } })],
    [
      'surfaces.client.pages.verifyEmail',
      surface({ pages: { verifyEmail: 'javascript:alert(1)' } }),
    ],
    [
      'surfaces.client.pages.resetPassword',
      surface({ pages: { resetPassword: 'http://a.example' } }),
    ],
    ['surfaces.client.pages.login', surface({ pages: { login: '/login#top' } })],
    ['surfaces.client.pages.logon', surface({ pages: { logon: '/login' } })],
    ['surfaces.client.rateLimits', surface({ rateLimits: 5 })],
    ['surfaces.client.rateLimits.exact', surface({ rateLimits: { exact: 'yes' } })],
    ['surfaces.client.rateLimits.perIp', surface({ rateLimits: { perIp: 1 } })],
    ['surfaces.client.rateLimits.selfPerSession', surface({ rateLimits: { selfPerSession: 100 } })],
    [
      'surfaces.client.rateLimits.selfPerSession.limit',
      surface({ rateLimits: { selfPerSession: { limit: 0, windowMs: 1000 } } }),
    ],
    [
      'surfaces.client.rateLimits.selfPerSession.windowMs',
      surface({ rateLimits: { selfPerSession: { limit: 1, windowMs: 1 } } }),
    ],
    [
      'surfaces.client.rateLimits.selfPerSession.windowMs',
      surface({ rateLimits: { selfPerSession: { limit: 1, windowMs: 365 * 86_400_000 + 1 } } }),
    ],
    ['surfaces.client.domain', surface({ domain: 'example.com' })],
    ['mailer', { mailer: undefined }],
    ['mailer', { mailer: {} }],
    ['mailer', { mailer: async () => {} }],
    ['issuer', { issuer: '' }],
    ['issuer', { issuer: 5 }],
    ['issuer', { issuer: 'x'.repeat(256) }],
    ['settings', { settings: 5 }],
    ['settings.passwordMinimum', { settings: { passwordMinimum: 8 } }],
    ['settings.passwordMinLength', { settings: { passwordMinLength: 3 } }],
    ['settings.cookieSameSite', { settings: { cookieSameSite: 'Lax' } }],
    ['modules', { modules: {} }],
    ['modules.0', { modules: [null] }],
    ['modules.0', { modules: [{}] }],
    ['modules.0', { modules: [moduleOf({ fields: [{ ...sender, label: '' }] })] }],
    ['modules.0', { modules: [moduleOf({ name: 'Mail' })] }],
    ['modules.0', { modules: [moduleOf({ environments: [] })] }],
    ['modules.0', { modules: [moduleOf({ fields: [{ ...sender, key: '__x' }] })] }],
    ['modules.0', { modules: [moduleOf({ name: 'auth' })] }],
    ['modules.1', { modules: [moduleOf({}), moduleOf({})] }],
    ['modules.0', { modules: [moduleOf({ validatePatch: true })] }],
    ['configKeys', { configKeys: undefined }],
    ['configKeys', { configKeys: [] }],
    ['configKeys', { configKeys: 'a key' }],
    ['configKeys', { configKeys: [{ id: 'a', key: 'short' }] }],
    ['configKeys', { configKeys: [{ id: 'a b', key: testConfigKeys[0]?.key }] }],
    ['configKeys', { configKeys: [...testConfigKeys, ...testConfigKeys] }],
    ['configKeys', { configKeys: undefined, env: { CONFIG_ENCRYPTION_KEY: 'short' } }],
    ['permissions.modulesRead', { permissions: { modulesRead: '' } }],
    ['permissions.modulesManage', { permissions: { modulesManage: 'auth.self' } }],
    ['permissions.modulesRead', { permissions: { modulesRead: 'auth.mfa.self' } }],
    ['permissions.modules', { permissions: { modules: 'x' } }],
    ['authorizer', { authorizer: {} }],
    ['authorizer', { authorizer: async () => true }],
    ['authorizer', { authorizer: () => null }],
    ['authorizer', { authorizer: 'roles' }],
    ['trustProxy', { trustProxy: true }],
    ['trustProxy', { trustProxy: -1 }],
    ['trustProxy', { trustProxy: 1.5 }],
    ['trustProxy', { trustProxy: '10.0.0.0/8' }],
    ['trustProxy', { trustProxy: ['loopback'] }],
    ['trustProxy', { trustProxy: [5] }],
    ['env', { env: 5 }],
    ['env.PORT', { env: { PORT: 3000 } }],
    ['hash', { hash: 5 }],
    ['hash.params', { hash: { params: weakHash } }],
    ['hash.params.parallelism', { hash: { params: { memoryCost: 19_456, timeCost: 2 } } }],
    ['hash.params.timeCost', { hash: { params: { ...weakHash, timeCost: 'x' } } }],
    ['hash.concurrency', { hash: { concurrency: 0 } }],
    ['hash.queue', { hash: { queue: -1 } }],
    ['hash.queue', { hash: { queue: '64' } }],
    ['hash.implementation', { hash: { implementation: 'bcrypt' } }],
    ['hash.implementation', { hash: { implementation: { hash() {} } } }],
    ['hash.allowWeakHashesForTests', { hash: { allowWeakHashesForTests: false } }],
    ['legacyHashes.bcrypt', { legacyHashes: { bcrypt: true } }],
    ['legacyHashes.scrypt', { legacyHashes: { scrypt: 'yes' } }],
    ['legacyHashes.md5', { legacyHashes: { md5: true } }],
    [
      'legacyHashes.firebaseScrypt.memCost',
      { legacyHashes: { firebaseScrypt: { ...firebase, memCost: 15 } } },
    ],
    [
      'legacyHashes.firebaseScrypt.rounds',
      { legacyHashes: { firebaseScrypt: { ...firebase, rounds: 0 } } },
    ],
    [
      'legacyHashes.firebaseScrypt.signerKey',
      { legacyHashes: { firebaseScrypt: { ...firebase, signerKey: '?' } } },
    ],
    ['legacyVerifiers', { legacyVerifiers: {} }],
    ['legacyVerifiers.0', { legacyVerifiers: [{ verify() {} }] }],
    ['collectionPrefix', { collectionPrefix: 'My-App' }],
    ['collectionPrefix', { collectionPrefix: 'a"; drop table users' }],
    ['defaultSurface', { defaultSurface: 'admin' }],
    ['passwordContextWords', { passwordContextWords: 'acme' }],
    ['passwordContextWords.0', { passwordContextWords: [5] }],
    ['clockLeeway', { clockLeeway: 61 }],
    ['clockLeeway', { clockLeeway: -1 }],
    ['clockLeeway', { clockLeeway: '5s' }],
    ['backendTimeout', { backendTimeout: 0 }],
    ['backendTimeout', { backendTimeout: '5s' }],
    ['requestTimeout', { requestTimeout: 0 }],
    ['deviceRecognition', { deviceRecognition: 'off' }],
    ['sweep', { sweep: true }],
    ['meterProvider', { meterProvider: {} }],
    ['tracerProvider', { tracerProvider: {} }],
    ['auditRetentionDays', { auditRetentionDays: 29 }],
    ['auditRetentionDays', { auditRetentionDays: '400d' }],
    ['onEvent', { onEvent: {} }],
    ['logger', { logger: { info() {} } }],
    ['clock', { clock: Date }],
    ['clock', { clock: { now: () => 1_700_000_000_000.5, after: () => () => {} } }],
    ['clock', { clock: { now: () => new Date(), after: () => () => {} } }],
    ['clock', { clock: { now: () => Number.NaN, after: () => () => {} } }],
    ['random', { random: Math.random }],
    ['fetcher', { fetcher: fetch }],
    ['database', { database: memory() }],
  ])('%s, case %#', async (option, changes) => {
    const error = await refusal(changes)
    expect(error.option).toBe(option)
    const [start = '', remedy = ''] = error.message.split(`option "${option}" `)
    expect(start).toBe('createAuth: ')
    // What it has to be, in words of this library and not of its schema's.
    expect(remedy).toMatch(/\b(must|needs?|is not|holds)\b/)
    expect(error.message).not.toMatch(/Invalid (input|option)|Too (small|big)|received|expected/i)
  })

  it('a backend that was not called says so', async () => {
    const { message } = await refusal({ backend: memory })
    expect(message).toBe(
      'createAuth: option "backend" must be what the function returns, not the function itself: call memory(…)',
    )
    const unnamed = await refusal({
      backend: (
        () => () =>
          memory()
      )(),
    })
    expect(unnamed.message).toMatch(/: call it$/)
  })

  it('a backend or a surface that is missing says what there must be', async () => {
    const backend = await refusal({ backend: undefined })
    expect(backend.message).toMatch(/must be a backend, such as memory\(\) or postgres\(pool\)$/)
    const surfaces = await refusal({ surfaces: undefined })
    for (const { message } of [surfaces, await refusal({ surfaces: {} })]) {
      expect(message).toMatch(
        /must be { operator: { baseUrl }, client: { baseUrl } }, or one of the two$/,
      )
    }
    const one = await refusal({ surfaces: { client: undefined, operator: null } })
    expect(one.message).toMatch(/must be { baseUrl }$/)
  })

  it('a setting in the place of an option says where it belongs', async () => {
    const { option, message } = await refusal({ accessTokenTTL: '5m' })
    expect(option).toBe('accessTokenTTL')
    expect(message).toMatch(
      /is not an option but a setting: write settings: { accessTokenTTL: … }$/,
    )
  })

  it('names one method as one, and several as several', async () => {
    const one = await refusal({ mailer: {} })
    expect(one.message).toMatch(/"mailer" must be an object with the method send$/)
    const several = await refusal({ clock: {} })
    expect(several.message).toMatch(/"clock" must be an object with the methods now, after$/)
  })

  it.each([undefined, null, 5, 'options', []])(
    '%o in the place of the options',
    async (options) => {
      const make: (options: never) => Promise<Auth> = createAuth
      await expect(make(options as never)).rejects.toThrow(/^createAuth: .*\bmust be\b/)
    },
  )

  it('takes the configuration key from the environment', async () => {
    const env = { CONFIG_ENCRYPTION_KEY: testConfigKeys[0]?.key }
    await expect(created({ configKeys: undefined, env })).resolves.toBeDefined()
  })

  it('takes the configuration keys from a function, and asks it once', async () => {
    let asked = 0
    const configKeys = async () => {
      asked += 1
      return testConfigKeys
    }
    const auth = await created({ configKeys })
    await auth.migrate()
    const config = { googleClientSecret: 'from the console' }
    await auth.config.change('auth', { config })
    expect(asked).toBe(1)
    const down = new Error('the vault is down')
    const failed = await refusal({ configKeys: () => Promise.reject(down) })
    expect([failed.option, failed.cause]).toEqual(['configKeys', down])
    for (const answer of [undefined, 'a key', [{ id: 'a' }]]) {
      const refused = await refusal({ configKeys: async () => answer })
      expect(refused.message).toContain('must resolve with an array of { id, key }')
    }
    const empty = await refusal({ configKeys: async () => [] })
    expect(empty.option).toBe('configKeys')
  })

  it('takes limits of up to a year, and the system’s clock without its fractions', async () => {
    const selfPerSession = { limit: 1, windowMs: 365 * 86_400_000 }
    await created(surface({ rateLimits: { selfPerSession } }))
    const after = () => () => {}
    await created({ clock: { now: () => Math.floor(performance.now()), after } })
    await created({ permissions: { modulesManage: 'system.modules.read', modulesRead: 'mine' } })
  })

  it('repeats no configuration key', async () => {
    const key = 'c2VjcmV0IGtleQ'
    for (const changes of [
      { configKeys: [{ id: 'a', key }] },
      { configKeys: undefined, env: { CONFIG_ENCRYPTION_KEY: key } },
    ]) {
      const error = await refusal(changes)
      expect(`${error.message} ${error.stack}`).not.toContain(key)
    }
  })

  it('repeats no secret', async () => {
    const secret = 'c2VjcmV0IGtleQ'
    const pem = `-----BEGIN PRIVATE KEY-----\n${secret}\n-----END PRIVATE KEY-----`
    const error = await refusal({ keys: { current: pem } })
    expect(`${error.message} ${error.stack}`).not.toContain(secret)
  })

  it('refuses unfit keys and surfaces that contradict each other, and makes up none', async () => {
    const { generateKeyPairSync, randomBytes } = await import('node:crypto')
    const pkcs8 = { type: 'pkcs8', format: 'pem' } as const
    const short = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export(pkcs8)
    const pss = generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).privateKey.export(pkcs8)
    const other = generateKeyPairSync('ed25519').privateKey.export(pkcs8)
    for (const current of [short, pss, other, undefined, '']) {
      const { option } = await refusal({ keys: { current } })
      expect(option).toMatch(/^keys/)
    }
    const secret = (bytes: number) => ({ id: 'k', key: randomBytes(bytes).toString('base64') })
    for (const configKeys of [[secret(31)], [secret(33)], [secret(16)], [secret(0)], []]) {
      expect((await refusal({ configKeys })).option).toMatch(/^configKeys/)
    }
    expect((await refusal({ configKeys: undefined })).option).toMatch(/^configKeys/)
    for (const changes of [
      { cookieDomain: 'other.example' },
      { cookieDomain: '.example.com' },
      { baseUrl: 'http://app.example.com' },
      { routesUrl: 'http://app.example.com' },
    ]) {
      const [name = ''] = Object.keys(changes)
      expect((await refusal(surface(changes))).option).toBe(`surfaces.client.${name}`)
    }
    const good = await created({ configKeys: [secret(32)] })
    await good.close()
  })

  it.each([
    ...['/', '/identity', '/identity/', '/identity/v1', '/identity/v1/auth', '/identity/v1/auth/'],
    '/identity/v1/auth/client',
  ])('takes the cookie path %s above routes below a path', async (cookiePath) => {
    const below = { cookieDomain: 'example.com', routesUrl: 'https://app.example.com/identity' }
    await (await created(surface({ ...below, cookiePath }))).close()
    const mounted = { cookieDomain: 'example.com', cookiePath: '/identity' }
    await (await created(surface(mounted))).close()
  })

  it.each(['/identity/v1/auth/operator', '/identity/v1/auth/client/oauth'])(
    'refuses the cookie path %s, of some routes alone',
    async (cookiePath) => {
      const below = { cookieDomain: 'example.com', routesUrl: 'https://app.example.com/identity' }
      const { option } = await refusal(surface({ ...below, cookiePath }))
      expect(option).toBe('surfaces.client.cookiePath')
    },
  )

  it('names the key function that fails, and keeps its own error as the cause', async () => {
    const cause = new Error('the vault is sealed')
    const keys = async () => Promise.reject(cause)
    await expect(created({ keys })).rejects.toMatchObject({ option: 'keys', cause })
  })
})

describe('the required options alone', () => {
  it('are enough to sign somebody in', async () => {
    const auth = await createAuth(await bareOptions())
    await auth.migrate()
    const credentials = { email: 'ada@example.org', password: 'correct horse battery staple' }
    await auth.client.users.create({ ...credentials, emailVerified: true })
    expect(await loginStatus(auth, credentials)).toBe(200)
    await auth.close()
  })

  it.each([
    'http://localhost:3000',
    'http://127.0.0.1:3000',
    'http://[::1]:3000',
    'http://app.localhost',
    'https://app.example.com:8443/shop',
  ])('take %s for a surface', async (baseUrl) => {
    await expect(created(surface({ baseUrl }))).resolves.toBeDefined()
  })
})

it('a store that cannot have a collection is refused at construction, before any request', async () => {
  for (const name of ['operator_users', 'client_users']) {
    const backend = memory()
    const refusing = {
      ...backend,
      store: {
        ...backend.store,
        collection: (spec: Parameters<typeof backend.store.collection>[0]) => {
          if (spec.name === name) throw new TypeError(`no room for ${name}`)
          return backend.store.collection(spec)
        },
      },
    }
    await expect(created({ backend: refusing })).rejects.toThrow(`no room for ${name}`)
  }
})
