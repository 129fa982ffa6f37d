import { ConfigValidationError } from '../errors/index.js'
import { oauthProviders, providerIds, providerSettings } from './oauth-providers.js'
import type { SettingKey } from './settings.js'

type Values = Readonly<Record<string, string>>

type Key = keyof typeof oauthProviders

interface Provider {
  readonly name: string
  readonly operator: Key
  readonly client: Key
  /** What it cannot work without: a credential with a default is never missing. */
  readonly credentials: readonly Key[]
}

const providers: readonly Provider[] = providerIds.map((id) => {
  const { name, credentials } = providerSettings[id]
  return {
    name,
    operator: `${id}OperatorEnabled`,
    client: `${id}ClientEnabled`,
    credentials: Object.values(credentials).filter(
      (key) => oauthProviders[key].declaration.default === undefined,
    ),
  }
})

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

/**
 * Refuses a surface on which no user can sign in: without password login, without a provider, and
 * without passkeys in place of both factors.
 */
export function loginMethodProblem(
  values: Values,
  isTouched: (key: SettingKey) => boolean,
): ConfigValidationError | null {
  for (const { surface, password } of surfaces) {
    const switches = providers.map((provider) => provider[surface])
    const methods: readonly SettingKey[] = [password, 'webauthnMode', ...switches]
    if (!methods.some(isTouched)) continue
    // Only 'false' is off: any other text in the store reads as the default, which is on.
    if (values[password] !== 'false' || switches.some((key) => isOn(values, key))) continue
    if (values['webauthnMode'] === 'passwordless') continue
    const message = `The ${surface} surface has no login method. Keep "${password}" on, enable a provider, or set "webauthnMode" to "passwordless".`
    return new ConfigValidationError(password, message, 'auth.no_login_method')
  }
  return null
}

function isOn(values: Values, key: SettingKey): boolean {
  return values[key] === 'true'
}
