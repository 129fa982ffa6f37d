import { describe, expect, test } from 'vitest'
import { OptionsError } from '../../src/errors/index.js'
import { authValidators } from '../../src/settings/auth-module.js'
import { authSeedsFromEnv, seedFromEnv, toStoredValues } from '../../src/settings/initial-values.js'
import {
  authSettingDeclarations,
  type InitialSettings,
  readAuthSettings,
} from '../../src/settings/settings.js'
import { isPublicAddress } from '../../src/system/system-fetcher.js'

const pem = '-----BEGIN PRIVATE KEY-----\nMIGTAgEAMBMG\nByqGSM49AgEG\n-----END PRIVATE KEY-----\n'

const every: Required<InitialSettings> = {
  registrationOperatorEnabled: true,
  registrationClientEnabled: false,
  registrationAllowedDomains: [
    {
      slug: 'acme',
      label: 'Acme',
      domain: 'acme.example',
      surface: 'both',
      includeSubdomains: true,
    },
    { slug: 'beta-2', domain: 'beta.example', surface: 'client' },
  ],
  registrationTermsVersion: '2026-11',
  emailVerificationRequired: false,
  emailVerificationTTL: '15m',
  passwordLoginOperatorEnabled: false,
  passwordLoginClientEnabled: false,
  accessTokenTTL: '1m',
  sessionAbsoluteTTL: '',
  refreshReuseGrace: '0s',
  cookieSameSite: 'none',
  passwordMinLength: 8,
  passwordBreachCheck: 'failOpen',
  passwordBlockCommon: false,
  passwordBlockContextual: false,
  passwordHistoryCount: 24,
  passwordMaxAge: '730d',
  mfaPolicyOperator: 'required',
  mfaPolicyClient: 'off',
  totpEnabled: false,
  totpIssuer: 'Acme',
  totpSkewSteps: 0,
  backupCodeCount: 5,
  webauthnMode: 'off',
  webauthnUserVerification: 'preferred',
  mfaMaxAttempts: 10,
  stepUpMaxAge: '1h',
  trustedDeviceOperatorEnabled: true,
  trustedDeviceClientEnabled: false,
  trustedDeviceTTL: '1d',
  oauthRedirectTargets: [
    { slug: 'web', uri: 'https://app.example/done', surface: 'client', flow: 'web' },
    {
      slug: 'app',
      uri: 'org.example:/done',
      surface: 'operator',
      flow: 'mobile',
      appId: 'org.example',
    },
  ],
  googleOperatorEnabled: true,
  googleClientEnabled: true,
  googleClientId: 'g-id',
  googleClientSecret: 'g-secret',
  microsoftOperatorEnabled: true,
  microsoftClientEnabled: true,
  microsoftClientId: 'm-id',
  microsoftClientSecret: 'm-secret',
  microsoftTenant: '3f2504e0-4f89-11d3-9a0c-0305e82c3301',
  appleOperatorEnabled: true,
  appleClientEnabled: true,
  appleServicesId: 'org.example.web',
  appleTeamId: 'ABCDE12345',
  appleKeyId: 'FGHIJ67890',
  applePrivateKey: pem,
  githubOperatorEnabled: true,
  githubClientEnabled: true,
  githubClientId: 'h-id',
  githubClientSecret: 'h-secret',
  loginRateOperator: 1000,
  loginRateClient: 1,
  lockoutThreshold: 3,
  lockoutDuration: '24h',
  grantFailuresPerIp: 1000,
  grantFailuresPerClient: 100,
  notifyNewDevice: false,
  notifySecurityChanges: false,
  securityWebhooks: [
    { slug: 'siem', url: 'https://siem.example/in', signingSecret: 's'.repeat(32), events: 'all' },
  ],
  maxConcurrentSessions: 100,
  revokeSessionsOnPasswordChange: false,
  accountDeletionMode: 'both',
}

/** What a host without a type checker may pass. */
const untyped = (initial: unknown) => toStoredValues(initial as InitialSettings, isPublicAddress)

function refusal(initial: unknown): OptionsError {
  try {
    untyped(initial)
  } catch (error) {
    if (error instanceof OptionsError) return error
    throw error
  }
  return expect.unreachable('It was accepted')
}

describe('toStoredValues', () => {
  test('takes every one of the 63 settings, and what it stores is read back without a warning', () => {
    expect(Object.keys(every)).toEqual(authSettingDeclarations.map(({ key }) => key))
    const { settings, warnings } = readAuthSettings(toStoredValues(every, isPublicAddress), {})
    const minute = 60_000
    const day = 24 * 60 * minute
    expect(warnings).toEqual([])
    expect(settings).toEqual({
      ...every,
      registrationAllowedDomains: [
        every.registrationAllowedDomains[0],
        { ...every.registrationAllowedDomains[1], label: 'beta-2', includeSubdomains: false },
      ],
      emailVerificationTTL: 15 * minute,
      accessTokenTTL: minute,
      sessionAbsoluteTTL: null,
      refreshReuseGrace: 0,
      passwordMaxAge: 730 * day,
      stepUpMaxAge: 60 * minute,
      trustedDeviceTTL: day,
      oauthRedirectTargets: [
        { ...every.oauthRedirectTargets[0], label: 'web', appId: '' },
        { ...every.oauthRedirectTargets[1], label: 'app' },
      ],
      lockoutDuration: day,
      securityWebhooks: [
        { ...every.securityWebhooks[0], label: 'siem', previousSigningSecret: '' },
      ],
    })
  })

  test('stores flat text, durations as typed', () => {
    expect(
      untyped({
        accessTokenTTL: '48h',
        passwordMinLength: 20,
        totpEnabled: false,
        registrationAllowedDomains: every.registrationAllowedDomains,
        securityWebhooks: [],
      }),
    ).toEqual({
      accessTokenTTL: '48h',
      passwordMinLength: '20',
      totpEnabled: 'false',
      'registrationAllowedDomains.__items': 'acme,beta-2',
      'registrationAllowedDomains.acme.__label': 'Acme',
      'registrationAllowedDomains.acme.domain': 'acme.example',
      'registrationAllowedDomains.acme.surface': 'both',
      'registrationAllowedDomains.acme.includeSubdomains': 'true',
      'registrationAllowedDomains.beta-2.__label': 'beta-2',
      'registrationAllowedDomains.beta-2.domain': 'beta.example',
      'registrationAllowedDomains.beta-2.surface': 'client',
      'securityWebhooks.__items': '',
    })
    expect(untyped({})).toEqual({})
    expect(untyped({ passwordMinLength: undefined })).toEqual({})
    expect(untyped({ passwordMaxAge: '', registrationTermsVersion: '' })).toEqual({
      passwordMaxAge: '',
      registrationTermsVersion: '',
    })
  })

  test.each<[string, unknown]>([
    ['passwordMinLen', 12],
    ['constructor', 'x'],
    ['passwordMinCharacterClasses', 0],
    ['totpEnabled', 'true'],
    ['totpEnabled', 1],
    ['totpEnabled', null],
    ['passwordMinLength', '15'],
    ['passwordMinLength', 7],
    ['passwordMinLength', 129],
    ['passwordMinLength', 15.5],
    ['passwordMinLength', Number.NaN],
    ['lockoutThreshold', 1],
    ['lockoutThreshold', 2],
    ['lockoutThreshold', -1],
    ['lockoutThreshold', 101],
    ['stepUpMaxAge', 900_000],
    ['stepUpMaxAge', 'soon'],
    ['stepUpMaxAge', ''],
    ['stepUpMaxAge', '59s'],
    ['stepUpMaxAge', '61m'],
    ['refreshReuseGrace', '61s'],
    ['accessTokenTTL', '59s'],
    ['accessTokenTTL', '0'],
    ['accessTokenTTL', ''],
    ['sessionAbsoluteTTL', '59m'],
    ['sessionAbsoluteTTL', '89d1s'],
    ['sessionAbsoluteTTL', '90d'],
    ['sessionAbsoluteTTL', null],
    ['cookieSameSite', 'Lax'],
    ['cookieSameSite', ''],
    ['passwordBreachCheck', true],
    ['registrationTermsVersion', 'x'.repeat(65)],
    ['registrationTermsVersion', 'a\u0000b'],
    ['registrationTermsVersion', 'a\ud800'],
    ['microsoftTenant', 'contoso.example'],
    ['appleTeamId', 'ABC'],
    ['googleClientSecret', 'S3CR3T'.repeat(50)],
    ['applePrivateKey', 'S3CR3T'],
    ['registrationAllowedDomains', 'acme.example'],
    ['registrationAllowedDomains', { acme: {} }],
  ])('refuses %s = %j, naming the option', (key, value) => {
    const error = refusal({ [key]: value })
    expect(error.option).toBe(`settings.${key}`)
    expect(error.message).toMatch(/" (must|is) [^"]+\.$/)
    expect(error.message).not.toContain('S3CR3T')
  })

  test.each([null, [], 'x', 3])('refuses %j for the whole', (initial) => {
    expect(refusal(initial).option).toBe('settings')
  })

  const domain = { slug: 'acme', domain: 'acme.example', surface: 'both' }
  const target = {
    slug: 'app',
    uri: 'org.example:/done',
    surface: 'client',
    flow: 'mobile',
    appId: 'x',
  }
  const { appId: _, ...web } = { ...target, flow: 'web', uri: 'https://x.example/done' }
  const hook = {
    slug: 'siem',
    url: 'https://siem.example',
    signingSecret: 'S3CR3T'.repeat(6),
    events: 'all',
  }

  test.each<[string, readonly unknown[], string]>([
    ['registrationAllowedDomains', ['acme.example'], '[0]'],
    ['registrationAllowedDomains', [null], '[0]'],
    ['registrationAllowedDomains', [{ ...domain, slug: undefined }], '[0].slug'],
    ['registrationAllowedDomains', [{ ...domain, slug: 'A' }], '[0].slug'],
    ['registrationAllowedDomains', [{ ...domain, slug: 'a_b' }], '[0].slug'],
    ['registrationAllowedDomains', [{ ...domain, slug: 'a--b' }], '[0].slug'],
    ['registrationAllowedDomains', [{ ...domain, slug: 'a,b' }], '[0].slug'],
    ['registrationAllowedDomains', [{ ...domain, slug: 'a.b' }], '[0].slug'],
    ['registrationAllowedDomains', [{ ...domain, slug: '__items' }], '[0].slug'],
    ['registrationAllowedDomains', [{ ...domain, slug: 'a'.repeat(64) }], '[0].slug'],
    ['registrationAllowedDomains', [domain, domain], '[1].slug'],
    ['registrationAllowedDomains', [{ ...domain, label: 3 }], '[0].label'],
    ['registrationAllowedDomains', [{ ...domain, domain: undefined }], '[0].domain'],
    ['registrationAllowedDomains', [{ ...domain, domain: '' }], '[0].domain'],
    ['registrationAllowedDomains', [{ ...domain, domain: '@acme.example' }], '[0].domain'],
    ['registrationAllowedDomains', [{ ...domain, surface: 'all' }], '[0].surface'],
    [
      'registrationAllowedDomains',
      [{ ...domain, includeSubdomains: 'true' }],
      '[0].includeSubdomains',
    ],
    ['registrationAllowedDomains', [{ ...domain, extra: 1 }], '[0].extra'],
    ['oauthRedirectTargets', [{ ...target, appId: undefined }], '[0].appId'],
    ['oauthRedirectTargets', [{ ...target, uri: '/done' }], '[0].uri'],
    ['oauthRedirectTargets', [{ ...target, uri: 'https://x.example/#a' }], '[0].uri'],
    ['oauthRedirectTargets', [{ ...target, uri: 'http://x.example/done' }], '[0].uri'],
    ['oauthRedirectTargets', [{ ...web, uri: 'http://x.example/done' }], '[0].uri'],
    ['oauthRedirectTargets', [{ ...web, uri: 'http://localhost.x.example/' }], '[0].uri'],
    ['oauthRedirectTargets', [{ ...web, uri: 'http://127.0.0.1@x.example/' }], '[0].uri'],
    ['oauthRedirectTargets', [{ ...web, uri: 'http://10.0.0.1/done' }], '[0].uri'],
    ['oauthRedirectTargets', [{ ...web, uri: 'org.example.app:/done' }], '[0].uri'],
    ['oauthRedirectTargets', [{ ...target, uri: `a:${'x'.repeat(2048)}` }], '[0].uri'],
    // 236 characters as it is typed, and 2,076 as it is sent.
    ['oauthRedirectTargets', [{ ...target, uri: `org.x:${'名'.repeat(230)}` }], '[0].uri'],
    ['securityWebhooks', [{ ...hook, url: `https://siem.example/${'名'.repeat(230)}` }], '[0].url'],
    ['securityWebhooks', [hook, { ...hook, slug: 'b', url: 'http://siem.example' }], '[1].url'],
    ['securityWebhooks', [{ ...hook, signingSecret: undefined }], '[0].signingSecret'],
    ['securityWebhooks', [{ ...hook, signingSecret: 'S'.repeat(31) }], '[0].signingSecret'],
    [
      'securityWebhooks',
      [{ ...hook, signingSecret: `${'S3CR3T'.repeat(6)}\n` }],
      '[0].signingSecret',
    ],
    ['securityWebhooks', [{ ...hook, events: 'none' }], '[0].events'],
  ])('refuses in %s %j at %s', (key, elements, where) => {
    const error = refusal({ [key]: elements })
    expect(error.option).toBe(`settings.${key}${where}`)
    expect(error.message).not.toContain('S3CR3T')
  })

  const addresses: [string, Record<string, string>, string, string[]][] = [
    [
      'securityWebhooks',
      hook,
      'url',
      [
        'https://user:pw@siem.example/',
        'https://user@siem.example/',
        'https://siem.example/#part',
        'https://localhost/in',
        'https://siem.localhost./in',
        'https://127.0.0.1/in',
        'https://10.1.2.3/in',
        'https://0x7f.1/in',
        'https://[::1]/in',
        'https://[fd00::1]/in',
        'https://169.254.169.254/latest',
        'https://',
        'ftp://siem.example/',
        'https://siem.example/in',
        'https://8.8.8.8/in',
        'HTTPS://siem.example/in',
      ],
    ],
    [
      'oauthRedirectTargets',
      web,
      'uri',
      [
        'https://*.example.org/done',
        'https://user:pw@app.example/done',
        'https://app.example/done#part',
        'https://app.example/a b',
        '//app.example/done',
        'https://app.example/done',
      ],
    ],
    [
      'oauthRedirectTargets',
      target,
      'uri',
      ['myapp:/done', 'javascript:alert(1)', 'http://localhost/done', 'org.example.app:/done'],
    ],
    [
      'registrationAllowedDomains',
      domain,
      'domain',
      ['.example.org', 'a@example.org', 'example.org/x', 'example org', 'example.org'],
    ],
  ]
  const addressCases = addresses.flatMap(([key, element, member, texts]) =>
    texts.map((text) => [key, element, member, text] as const),
  )
  const { validatePatch } = authValidators(isPublicAddress, false)

  test.each(addressCases)(
    'a first value follows the rule of an edit: %s %j with %s %j',
    (key, element, member, text) => {
      const given = { ...element, [member]: text }
      const slug = String(given['slug'])
      const keys = Object.keys(given).filter((name) => name !== 'slug')
      const texts = keys.map((name) => [`${key}.${slug}.${name}`, given[name] ?? ''] as const)
      const values = { [`${key}.__items`]: slug, ...Object.fromEntries(texts) }
      const edit = validatePatch({ values, changedKeys: Object.keys(values) })
      const first = () => untyped({ [key]: [given] })
      if (edit === null) expect(first).not.toThrow()
      else expect(refusal({ [key]: [given] }).option).toBe(`settings.${key}[0].${member}`)
    },
  )

  test('a list holds 50 elements and no more', () => {
    const elements = Array.from({ length: 51 }, (_, i) => ({ ...domain, slug: `d${i}` }))
    expect(Object.keys(untyped({ registrationAllowedDomains: elements.slice(1) }))).toHaveLength(
      151,
    )
    expect(refusal({ registrationAllowedDomains: elements }).option).toBe(
      'settings.registrationAllowedDomains',
    )
  })

  test.each(['localhost:3000', '127.0.0.1', '[::1]:8080', 'app.localhost'])(
    'a web target may be at http on this machine: %s',
    (host) => {
      const uri = `http://${host}/signed-in`
      const stored = untyped({ oauthRedirectTargets: [{ ...web, uri }] })
      expect(stored).toMatchObject({ 'oauthRedirectTargets.app.uri': uri })
    },
  )

  test('a web target needs no app', () => {
    expect(Object.keys(untyped({ oauthRedirectTargets: [web] }))).not.toContain(
      'oauthRedirectTargets.app.appId',
    )
  })
})

describe('seedFromEnv', () => {
  test('takes what the environment sets, and an empty variable is not set', () => {
    const env = {
      GOOGLE_CLIENT_ID: 'g-id',
      GOOGLE_CLIENT_SECRET: '',
      APPLE_PRIVATE_KEY: pem,
      MICROSOFT_TENANT_ID: undefined,
      GOOGLE_OTHER: 'x',
    }
    expect(seedFromEnv(authSettingDeclarations, env)).toEqual({
      googleClientId: 'g-id',
      applePrivateKey: pem,
    })
    expect(seedFromEnv(authSettingDeclarations, {})).toEqual({})
  })

  test('never seeds accessTokenTTL, whose variable is asked at every reading', () => {
    expect(authSeedsFromEnv({ JWT_ACCESS_TOKEN_EXPIRY: '5m', GOOGLE_CLIENT_ID: 'g-id' })).toEqual({
      googleClientId: 'g-id',
    })
  })

  test('never seeds a record list', () => {
    const list = { key: 'f', label: 'F', type: 'FieldRecordList', group: 'G', envVar: 'F' } as const
    expect(seedFromEnv([list], { F: 'a,b' })).toEqual({})
  })
})
