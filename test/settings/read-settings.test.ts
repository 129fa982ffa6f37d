import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  authSettingDeclarations,
  readAuthSettings,
  type SettingKey,
} from '../../src/settings/settings.js'
import { readings } from './readings.js'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

const defaults = Object.fromEntries(readings.map(({ key, absent }) => [key, absent]))

const read = (values: Record<string, string>, env: Record<string, string | undefined> = {}) =>
  readAuthSettings(values, env)

describe('readAuthSettings', () => {
  test('with nothing stored every setting has its default', () => {
    expect(read({})).toEqual({ settings: defaults, warnings: [] })
  })

  test('cleared settings read as their defaults, the absolute cap excepted', () => {
    const cleared = Object.fromEntries(authSettingDeclarations.map(({ key }) => [key, '']))
    expect(read(cleared)).toEqual({
      settings: { ...defaults, sessionAbsoluteTTL: null },
      warnings: [],
    })
  })

  test.each<[SettingKey, string, unknown]>([
    ['emailVerificationTTL', '14m59s', 15 * minute],
    ['emailVerificationTTL', '8d', 7 * day],
    ['refreshReuseGrace', '61s', minute],
    ['passwordMinLength', '7', 8],
    ['passwordMinLength', '129', 128],
    ['passwordMinLength', '9'.repeat(30), 128],
    ['passwordMaxAge', '23h', day],
    ['passwordMaxAge', '731d', 730 * day],
    ['lockoutThreshold', '1', 3],
    ['lockoutThreshold', '2', 3],
    ['lockoutThreshold', '101', 100],
    ['trustedDeviceTTL', '91d', 90 * day],
    ['registrationTermsVersion', 'ä'.repeat(65), 'ä'.repeat(64)],
    ['totpIssuer', '🦉'.repeat(65), '🦉'.repeat(64)],
  ])(
    '%s out of range (%s) is moved to the nearest allowed value, with a warning',
    (key, text, value) => {
      const { settings, warnings } = read({ [key]: text })
      expect(settings).toEqual({ ...defaults, [key]: value })
      expect(warnings).toEqual([expect.stringMatching(`^Setting "${key}" is out of range; using `)])
    },
  )

  test.each<[SettingKey, string]>([
    ['registrationClientEnabled', 'TRUE'],
    ['registrationClientEnabled', '0'],
    ['emailVerificationTTL', 'soon'],
    ['cookieSameSite', 'Lax'],
    ['passwordMinLength', '-1'],
    ['passwordMinLength', '15.5'],
    ['passwordMinLength', '1e2'],
    ['lockoutThreshold', '-1'],
    ['passwordMaxAge', 'never'],
    ['mfaPolicyOperator', 'constructor'],
    ['appleTeamId', 'ABC'],
  ])('%s that cannot be read (%s) reads as its default, with a warning', (key, text) => {
    const { settings, warnings } = read({ [key]: text })
    expect(settings).toEqual(defaults)
    expect(warnings).toEqual([`Setting "${key}" cannot be read; its default is used.`])
  })

  test('a damaged Microsoft tenant admits nobody, where the default admits everybody', () => {
    const { settings, warnings } = read({ microsoftTenant: 'contoso.example' })
    expect(settings.microsoftTenant).toBe('')
    expect(warnings).toEqual(['Setting "microsoftTenant" is out of range; using no value.'])
    const guid = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'
    expect(read({ microsoftTenant: guid }).settings.microsoftTenant).toBe(guid)
    // The variable was refused as a first value, so that nothing is stored.
    const env = { MICROSOFT_TENANT_ID: 'contoso.onmicrosoft.com' }
    const unstored = read({}, env)
    expect(unstored.settings.microsoftTenant).toBe('')
    expect(unstored.warnings).toEqual([
      'Environment variable MICROSOFT_TENANT_ID is out of range; using no value.',
    ])
    expect(read({ microsoftTenant: guid }, env).settings.microsoftTenant).toBe(guid)
    expect(read({ microsoftTenant: '' }, env).settings.microsoftTenant).toBe('common')
    for (const fine of ['', guid, 'common']) {
      const now = read({}, { MICROSOFT_TENANT_ID: fine })
      expect([now.settings.microsoftTenant, now.warnings]).toEqual(['common', []])
    }
  })

  test('whatever is stored, it never throws, and durations and counts stay in range', () => {
    const keys = authSettingDeclarations.map(({ key }) => key)
    const text = fc.oneof(
      fc.string(),
      fc.nat().map(String),
      fc.constantFrom('', '0', '1m', '9999d'),
    )
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom<string>(...keys), text), text, (values, env) => {
        const { settings } = read(values, { JWT_ACCESS_TOKEN_EXPIRY: env })
        for (const { key, min = 0, max = Number.POSITIVE_INFINITY } of authSettingDeclarations) {
          const value = settings[key]
          if (typeof value !== 'number') continue
          expect(value).toBeGreaterThanOrEqual(min)
          expect(value).toBeLessThanOrEqual(max)
        }
      }),
    )
  })

  test('changes nothing it is given and answers alike each time', () => {
    const values = Object.freeze({ passwordMinLength: '7', sessionAbsoluteTTL: '' })
    expect(read(values)).toEqual(read(values))
  })
})

describe('accessTokenTTL', () => {
  const ttl = (stored?: string, env?: string) =>
    read(stored === undefined ? {} : { accessTokenTTL: stored }, { JWT_ACCESS_TOKEN_EXPIRY: env })

  test('the stored value wins over the environment, which wins over 15m', () => {
    expect(ttl('5m', '10m').settings.accessTokenTTL).toBe(5 * minute)
    expect(ttl(undefined, '10m').settings.accessTokenTTL).toBe(10 * minute)
    expect(ttl('', '10m').settings.accessTokenTTL).toBe(10 * minute)
    expect(ttl('', undefined).settings.accessTokenTTL).toBe(15 * minute)
    expect(ttl(undefined, '').settings.accessTokenTTL).toBe(15 * minute)
    expect(ttl(undefined, '600').settings.accessTokenTTL).toBe(10 * minute)
  })

  test('an environment that cannot be read is ignored with a warning', () => {
    for (const env of ['soon', '-5m', '15 m']) {
      const { settings, warnings } = ttl(undefined, env)
      expect(settings.accessTokenTTL).toBe(15 * minute)
      expect(warnings).toEqual([expect.stringContaining('JWT_ACCESS_TOKEN_EXPIRY')])
    }
  })

  test('a stored value that cannot be read counts as not set', () => {
    expect(ttl('soon', '10m').settings.accessTokenTTL).toBe(10 * minute)
    expect(ttl('soon').settings.accessTokenTTL).toBe(15 * minute)
    expect(ttl('soon').warnings).toEqual([expect.stringContaining('"accessTokenTTL"')])
  })

  test.each(['1m', '60', '60000ms', '24h', '1440m', '86400'])('%s is in range', (text) => {
    expect(ttl(text).warnings).toEqual([])
    expect(ttl(undefined, text).settings.accessTokenTTL).toBe(ttl(text).settings.accessTokenTTL)
  })

  test.each(['24h1ms', '25h', '48h', '999999h', '86401'])('%s acts as 24h', (text) => {
    for (const { settings, warnings } of [ttl(text), ttl(undefined, text)]) {
      expect(settings.accessTokenTTL).toBe(24 * hour)
      expect(warnings).toHaveLength(1)
    }
  })

  test.each(['59s', '59999ms', '0', '0s', '1ms'])('%s is raised to 1m', (text) => {
    for (const { settings, warnings } of [ttl(text), ttl(undefined, text)]) {
      expect(settings.accessTokenTTL).toBe(minute)
      expect(warnings).toHaveLength(1)
    }
  })
})

describe('sessionAbsoluteTTL', () => {
  const cap = (values: Record<string, string>, env = {}) =>
    read(values, env).settings.sessionAbsoluteTTL

  test('never set is 720h, cleared is no cap', () => {
    expect(cap({})).toBe(720 * hour)
    expect(cap({ sessionAbsoluteTTL: '' })).toBeNull()
    expect(cap({ sessionAbsoluteTTL: '720h' })).toBe(720 * hour)
  })

  test.each(['never', ' ', '0x', 'null', '-1h'])(
    '%j, which cannot be read, is 720h and never "no cap"',
    (text) => {
      expect(cap({ sessionAbsoluteTTL: text })).toBe(720 * hour)
      expect(read({ sessionAbsoluteTTL: text }).warnings).toHaveLength(1)
    },
  )

  test('out of range in the store is moved into the range, never switched off', () => {
    expect(cap({ sessionAbsoluteTTL: '59m' })).toBe(hour)
    expect(cap({ sessionAbsoluteTTL: '0' })).toBe(hour)
    expect(cap({ sessionAbsoluteTTL: '1h' })).toBe(hour)
    expect(cap({ sessionAbsoluteTTL: '89d' })).toBe(89 * day)
    expect(cap({ sessionAbsoluteTTL: '89d1s' })).toBe(89 * day)
    expect(cap({ sessionAbsoluteTTL: '9999d' })).toBe(89 * day)
  })

  test('no environment variable sets it', () => {
    const env = {
      sessionAbsoluteTTL: '1h',
      SESSION_ABSOLUTE_TTL: '1h',
      JWT_ACCESS_TOKEN_EXPIRY: '5m',
    }
    expect(cap({}, env)).toBe(720 * hour)
    expect(
      authSettingDeclarations.find(({ key }) => key === 'sessionAbsoluteTTL')?.envVar,
    ).toBeUndefined()
  })
})

describe('record lists', () => {
  test('allowed domains are read', () => {
    const { settings, warnings } = read({
      'registrationAllowedDomains.__items': 'acme,beta',
      'registrationAllowedDomains.acme.__label': 'Acme',
      'registrationAllowedDomains.acme.domain': 'Acme.Example',
      'registrationAllowedDomains.acme.surface': 'operator',
      'registrationAllowedDomains.acme.includeSubdomains': 'true',
      'registrationAllowedDomains.beta.domain': 'beta.example',
      'registrationAllowedDomains.beta.surface': 'both',
    })
    expect(warnings).toEqual([])
    expect(settings.registrationAllowedDomains).toEqual([
      {
        slug: 'acme',
        label: 'Acme',
        domain: 'acme.example',
        surface: 'operator',
        includeSubdomains: true,
      },
      {
        slug: 'beta',
        label: 'beta',
        domain: 'beta.example',
        surface: 'both',
        includeSubdomains: false,
      },
    ])
  })

  test.each([{ domain: 'acme.example', surface: 'Operator' }, { surface: 'client' }, {}])(
    'a damaged entry %j keeps the list from being empty, and matches nothing',
    (members) => {
      const values: Record<string, string> = { 'registrationAllowedDomains.__items': 'acme' }
      for (const [name, value] of Object.entries(members)) {
        values[`registrationAllowedDomains.acme.${name}`] = value
      }
      const { settings, warnings } = read(values)
      expect(settings.registrationAllowedDomains).toEqual([
        { slug: 'acme', label: 'acme', domain: '', surface: 'both', includeSubdomains: false },
      ])
      expect(warnings).toHaveLength(1)
    },
  )

  test('redirect targets are read, damaged ones left out with a warning', () => {
    const { settings, warnings } = read({
      'oauthRedirectTargets.__items': 'web,app,no-app,no-uri,no-flow',
      'oauthRedirectTargets.web.uri': 'https://app.example/Done',
      'oauthRedirectTargets.web.surface': 'client',
      'oauthRedirectTargets.web.flow': 'web',
      'oauthRedirectTargets.web.appId': 'ignored',
      'oauthRedirectTargets.app.uri': 'org.example.app:/done',
      'oauthRedirectTargets.app.surface': 'operator',
      'oauthRedirectTargets.app.flow': 'mobile',
      'oauthRedirectTargets.app.appId': 'org.example.app',
      'oauthRedirectTargets.no-app.uri': 'org.example.app:/done',
      'oauthRedirectTargets.no-app.surface': 'operator',
      'oauthRedirectTargets.no-app.flow': 'mobile',
      'oauthRedirectTargets.no-uri.surface': 'operator',
      'oauthRedirectTargets.no-uri.flow': 'web',
      'oauthRedirectTargets.no-flow.uri': 'https://app.example/',
      'oauthRedirectTargets.no-flow.surface': 'both',
      'oauthRedirectTargets.no-flow.flow': 'web',
    })
    expect(settings.oauthRedirectTargets).toEqual([
      {
        slug: 'web',
        label: 'web',
        uri: 'https://app.example/Done',
        surface: 'client',
        flow: 'web',
        appId: '',
      },
      {
        slug: 'app',
        label: 'app',
        uri: 'org.example.app:/done',
        surface: 'operator',
        flow: 'mobile',
        appId: 'org.example.app',
      },
    ])
    expect(warnings).toHaveLength(3)
  })

  test('webhooks are read; one without a secret is left out, and no warning shows a secret', () => {
    const { settings, warnings } = read({
      'securityWebhooks.__items': 'siem,unsigned,odd',
      'securityWebhooks.siem.url': 'https://siem.example/in',
      'securityWebhooks.siem.signingSecret': 'S3CR3T-1-of-at-least-32-characters',
      'securityWebhooks.siem.previousSigningSecret': 'S3CR3T-0-of-at-least-32-characters',
      'securityWebhooks.siem.events': 'login',
      'securityWebhooks.unsigned.url': 'https://siem.example/in',
      'securityWebhooks.unsigned.events': 'all',
      'securityWebhooks.odd.url': 'https://siem.example/in',
      'securityWebhooks.odd.signingSecret': 'S3CR3T-2-of-at-least-32-characters',
      'securityWebhooks.odd.events': 'some',
    })
    expect(settings.securityWebhooks).toEqual([
      {
        slug: 'siem',
        label: 'siem',
        url: 'https://siem.example/in',
        signingSecret: 'S3CR3T-1-of-at-least-32-characters',
        previousSigningSecret: 'S3CR3T-0-of-at-least-32-characters',
        events: 'login',
      },
    ])
    expect(warnings).toHaveLength(2)
    expect(warnings.join()).not.toContain('S3CR3T')
  })
})
