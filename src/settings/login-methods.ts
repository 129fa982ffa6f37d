import { ConfigValidationError } from '../errors/index.js'
import type { SettingKey } from './settings.js'

type Values = Readonly<Record<string, string>>

interface Provider {
  readonly name: string
  readonly operator: SettingKey
  readonly client: SettingKey
  /** What it cannot work without. */
  readonly credentials: readonly SettingKey[]
}

const providers: readonly Provider[] = [
  {
    name: 'Google',
    operator: 'googleOperatorEnabled',
    client: 'googleClientEnabled',
    credentials: ['googleClientId', 'googleClientSecret'],
  },
  {
    name: 'Microsoft',
    operator: 'microsoftOperatorEnabled',
    client: 'microsoftClientEnabled',
    credentials: ['microsoftClientId', 'microsoftClientSecret'],
  },
  {
    name: 'Apple',
    operator: 'appleOperatorEnabled',
    client: 'appleClientEnabled',
    credentials: ['appleServicesId', 'appleTeamId', 'appleKeyId', 'applePrivateKey'],
  },
  {
    name: 'GitHub',
    operator: 'githubOperatorEnabled',
    client: 'githubClientEnabled',
    credentials: ['githubClientId', 'githubClientSecret'],
  },
]

const surfaces = [
  { surface: 'operator', password: 'passwordLoginOperatorEnabled' },
  { surface: 'client', password: 'passwordLoginClientEnabled' },
] as const

/** Refuses an enabled provider without its credentials, if `isTouched` says so of any of its keys. */
export function providerProblem(
  values: Values,
  isTouched: (key: SettingKey) => boolean,
): ConfigValidationError | null {
  for (const { name, operator, client, credentials } of providers) {
    if (![operator, client, ...credentials].some(isTouched)) continue
    if (!isOn(values, operator) && !isOn(values, client)) continue
    const missing = credentials.find((key) => (values[key] ?? '') === '')
    if (missing === undefined) continue
    const message = `"${missing}" must be set while ${name} is enabled. Set it, or disable ${name}.`
    return new ConfigValidationError(missing, message, 'auth.oauth_incomplete')
  }
  return null
}

/** Refuses a surface on which nobody could sign in any more. */
export function loginMethodProblem(
  values: Values,
  isTouched: (key: SettingKey) => boolean,
): ConfigValidationError | null {
  for (const { surface, password } of surfaces) {
    const switches = providers.map((provider) => provider[surface])
    if (![password, ...switches].some(isTouched)) continue
    // Only 'false' is off: whatever else is stored reads as the default, which is on.
    if (values[password] !== 'false' || switches.some((key) => isOn(values, key))) continue
    const message = `The ${surface} surface would be left without a login method. Keep password login, or enable a provider.`
    return new ConfigValidationError(password, message, 'auth.no_login_method')
  }
  return null
}

function isOn(values: Values, key: SettingKey): boolean {
  return values[key] === 'true'
}
