import type { StoredSettings } from './setting.js'
import { type AuthSettings, authSettings } from './settings.js'

export interface AuthSettingsReading {
  readonly settings: AuthSettings
  /** What was out of range or unreadable, for the host's log. The same at every reading. */
  readonly warnings: readonly string[]
}

/**
 * The settings in force. `values` is the flat map of stored texts, secrets decrypted; `env` is asked for
 * `JWT_ACCESS_TOKEN_EXPIRY` and `MICROSOFT_TENANT_ID`. Never throws: whatever is stored, each setting has a value
 * of its type, in its range.
 *
 * A key that is absent and one that is present but empty differ for one setting only:
 * `sessionAbsoluteTTL` absent is 30 days, empty is no cap.
 */
export function readAuthSettings(
  values: StoredSettings['values'],
  env: StoredSettings['env'],
): AuthSettingsReading {
  const warnings: string[] = []
  const warn = (message: string) => {
    warnings.push(message)
  }
  const stored = { values, env, warn }
  const read = Object.entries(authSettings).map(([key, setting]) => [
    key,
    setting.read(key, stored),
  ])
  // The keys and types are those that `authSettings` is checked for, which a map does not show.
  return { settings: Object.fromEntries(read) as AuthSettings, warnings }
}
