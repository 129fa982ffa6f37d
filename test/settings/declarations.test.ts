import { describe, expect, test } from 'vitest'
import type { FieldDeclaration } from '../../src/engine/configuration/config-declaration.js'
import { formatDuration } from '../../src/engine/duration.js'
import {
  authModuleName,
  authSettingDeclarations,
  readAuthSettings,
} from '../../src/settings/settings.js'

/** The settings as specified (S-01 to S-63): key | type | default | range or options | variable | surface. */
const specified: Readonly<Record<string, string>> = {
  Registration: `
    registrationOperatorEnabled | FieldBool | false | | | operator
    registrationClientEnabled | FieldBool | true | | | client
    registrationAllowedDomains | FieldRecordList | | max 50 | | both
    registrationTermsVersion | FieldString | | max 64 | | both
    emailVerificationRequired | FieldBool | true | | | both
    emailVerificationTTL | FieldDuration | 24h | 15m to 7d | | both`,
  'Login & Sessions': `
    passwordLoginOperatorEnabled | FieldBool | true | | | operator
    passwordLoginClientEnabled | FieldBool | true | | | client
    accessTokenTTL | FieldDuration | 15m | 1m to 1d | JWT_ACCESS_TOKEN_EXPIRY | both
    sessionAbsoluteTTL | FieldDuration | 720h | 1h to 89d | | both
    refreshReuseGrace | FieldDuration | 10s | 0s to 1m | | both
    cookieSameSite | FieldSelect | lax | strict/lax/none | | both`,
  'Password Policy': `
    passwordMinLength | FieldInt | 15 | 8 to 128 | | both
    passwordBreachCheck | FieldSelect | off | off/failOpen/failClosed | | both
    passwordBlockCommon | FieldBool | true | | | both
    passwordBlockContextual | FieldBool | true | | | both
    passwordHistoryCount | FieldInt | 5 | 0 to 24 | | both
    passwordMaxAge | FieldDuration | | 1d to 730d | | both`,
  MFA: `
    mfaPolicyOperator | FieldSelect | optional | off/optional/required | | operator
    mfaPolicyClient | FieldSelect | optional | off/optional/required | | client
    totpEnabled | FieldBool | true | | | both
    totpIssuer | FieldString | Auth | 1 to 64 | | both
    totpSkewSteps | FieldInt | 1 | 0 to 2 | | both
    backupCodeCount | FieldInt | 10 | 5 to 20 | | both
    webauthnMode | FieldSelect | secondFactor | off/secondFactor/passwordless | | both
    webauthnUserVerification | FieldSelect | required | required/preferred | | both
    mfaMaxAttempts | FieldInt | 5 | 3 to 10 | | both
    stepUpMaxAge | FieldDuration | 15m | 1m to 1h | | both
    trustedDeviceOperatorEnabled | FieldBool | false | | | operator
    trustedDeviceClientEnabled | FieldBool | true | | | client
    trustedDeviceTTL | FieldDuration | 30d | 1d to 90d | | both`,
  'OAuth Providers': `
    oauthRedirectTargets | FieldRecordList | | max 50 | | both`,
  'OAuth Providers › google': `
    googleOperatorEnabled | FieldBool | false | | | operator
    googleClientEnabled | FieldBool | false | | | client
    googleClientId | FieldString | | max 255 | GOOGLE_CLIENT_ID | both
    googleClientSecret | FieldSecret | | max 255 | GOOGLE_CLIENT_SECRET | both`,
  'OAuth Providers › microsoft': `
    microsoftOperatorEnabled | FieldBool | false | | | operator
    microsoftClientEnabled | FieldBool | false | | | client
    microsoftClientId | FieldString | | max 255 | MICROSOFT_CLIENT_ID | both
    microsoftClientSecret | FieldSecret | | max 255 | MICROSOFT_CLIENT_SECRET | both
    microsoftTenant | FieldString | common | max 255 | MICROSOFT_TENANT_ID | both`,
  'OAuth Providers › apple': `
    appleOperatorEnabled | FieldBool | false | | | operator
    appleClientEnabled | FieldBool | false | | | client
    appleServicesId | FieldString | | max 255 | APPLE_SERVICES_ID | both
    appleTeamId | FieldString | | 10 to 10 | APPLE_TEAM_ID | both
    appleKeyId | FieldString | | 10 to 10 | APPLE_KEY_ID | both
    applePrivateKey | FieldSecret | | max 2048 | APPLE_PRIVATE_KEY | both`,
  'OAuth Providers › github': `
    githubOperatorEnabled | FieldBool | false | | | operator
    githubClientEnabled | FieldBool | false | | | client
    githubClientId | FieldString | | max 255 | GITHUB_CLIENT_ID | both
    githubClientSecret | FieldSecret | | max 255 | GITHUB_CLIENT_SECRET | both`,
  'Anti-abuse & Notifications': `
    loginRateOperator | FieldInt | 20 | 1 to 1000 | | operator
    loginRateClient | FieldInt | 60 | 1 to 1000 | | client
    lockoutThreshold | FieldInt | 10 | 0 to 100 | | both
    lockoutDuration | FieldDuration | 15m | 1m to 1d | | both
    grantFailuresPerIp | FieldInt | 30 | 1 to 1000 | | operator
    grantFailuresPerClient | FieldInt | 10 | 1 to 100 | | operator
    notifyNewDevice | FieldBool | true | | | both
    notifySecurityChanges | FieldBool | true | | | both
    securityWebhooks | FieldRecordList | | max 50 | | both`,
  'Sessions & Account': `
    maxConcurrentSessions | FieldInt | 0 | 0 to 100 | | both
    revokeSessionsOnPasswordChange | FieldBool | true | | | both
    accountDeletionMode | FieldSelect | client | off/client/both | | both`,
}

function rangeOf({ type, min, max, options }: FieldDeclaration): string {
  if (options !== undefined) return options.join('/')
  const show = type === 'FieldDuration' ? formatDuration : String
  if (max === undefined) return ''
  return min === undefined ? `max ${show(max)}` : `${show(min)} to ${show(max)}`
}

function rowOf(field: FieldDeclaration): string {
  const columns = [
    ...[field.key, field.type, field.default ?? '', rangeOf(field)],
    ...[field.envVar ?? '', field.surface ?? ''],
  ]
  return columns.join(' | ').replace(/ +/g, ' ')
}

const nodeOf = ({ group, child }: FieldDeclaration) =>
  child === undefined ? group : `${group} › ${child}`

describe('the settings of the auth module', () => {
  test('are exactly 63, a record list counting as one', () => {
    expect(authModuleName).toBe('auth')
    expect(authSettingDeclarations).toHaveLength(63)
    expect(new Set(authSettingDeclarations.map(({ key }) => key)).size).toBe(63)
  })

  test('are all read, and nothing else is', () => {
    const read = Object.keys(readAuthSettings({}, {}).settings)
    expect(read).toEqual(authSettingDeclarations.map(({ key }) => key))
  })

  test('are in the seven groups', () => {
    expect([...new Set(authSettingDeclarations.map(({ group }) => group))]).toEqual([
      'Registration',
      'Login & Sessions',
      'Password Policy',
      'MFA',
      'OAuth Providers',
      'Anti-abuse & Notifications',
      'Sessions & Account',
    ])
  })

  test('OAuth Providers, and it alone, has one child per provider', () => {
    const withChild = authSettingDeclarations.filter(({ child }) => child !== undefined)
    expect(new Set(withChild.map(({ group }) => group))).toEqual(new Set(['OAuth Providers']))
    expect([...new Set(withChild.map(({ child }) => child))].sort()).toEqual([
      'apple',
      'github',
      'google',
      'microsoft',
    ])
  })

  test.each(Object.entries(specified))('%s', (node, rows) => {
    const declared = authSettingDeclarations.filter((field) => nodeOf(field) === node).map(rowOf)
    const expected = rows
      .trim()
      .split('\n')
      .map((row) =>
        row
          .trim()
          .split('|')
          .map((cell) => cell.trim())
          .join(' | ')
          .replace(/ +/g, ' '),
      )
    expect(declared.map((row) => row.trim())).toEqual(expected)
  })

  test('secrets are declared as such, and have no default', () => {
    const secrets = authSettingDeclarations.filter(({ type }) => type === 'FieldSecret')
    expect(secrets.map(({ key }) => key)).toEqual([
      'googleClientSecret',
      'microsoftClientSecret',
      'applePrivateKey',
      'githubClientSecret',
    ])
    expect(
      secrets.every(({ secret, default: usual }) => secret === true && usual === undefined),
    ).toBe(true)
  })

  test('the record lists have their sub-fields', () => {
    const lists = authSettingDeclarations.filter(({ items }) => items !== undefined)
    const shown = lists.map(({ key, items = [] }) => [
      key,
      items.map((item) => {
        const condition = item.condition && ` if ${item.condition.field} = ${item.condition.equals}`
        const options = item.options ? ` ${item.options.join('/')}` : ''
        return `${item.key} ${item.type}${options}${item.required ? ' required' : ''}${condition ?? ''}`
      }),
    ])
    expect(Object.fromEntries(shown)).toEqual({
      registrationAllowedDomains: [
        'domain FieldString required',
        'surface FieldSelect operator/client/both required',
        'includeSubdomains FieldBool',
      ],
      oauthRedirectTargets: [
        'uri FieldString required',
        'surface FieldSelect operator/client required',
        'flow FieldSelect web/mobile required',
        'appId FieldString required if flow = mobile',
      ],
      securityWebhooks: [
        'url FieldString required',
        'signingSecret FieldSecret required',
        'previousSigningSecret FieldSecret',
        'events FieldSelect all/login/account required',
      ],
    })
    expect(authSettingDeclarations.filter(({ type }) => type === 'FieldRecordList')).toEqual(lists)
  })

  test('every label is its own', () => {
    expect(new Set(authSettingDeclarations.map(({ label }) => label)).size).toBe(63)
  })
})
