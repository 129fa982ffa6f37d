import { readIdleWindow } from './auth-module/idle-window.js'
import { authSettingDeclarations } from './auth-module/index.js'
import { type InitialSettings, seedFromEnv, toStoredValues } from './auth-module/initial-values.js'
import { settingsWithoutEffect } from './auth-module/live-settings.js'
import { readAuthSettings } from './auth-module/read-settings.js'
import type { AuthSettings } from './auth-module/settings.js'
import type { Logger } from './ports/telemetry.js'

/** The settings in force and the idle window, with a warning for all that is not as it was meant. */
export function loadSettings(
  initial: InitialSettings,
  env: Readonly<Record<string, string | undefined>>,
  logger: Logger,
): {
  readonly settings: AuthSettings
  readonly idleMs: number
  /** The texts of what was given, first values of the configuration store. */
  readonly seeds: Readonly<Record<string, string>>
} {
  const values = { ...seedFromEnv(authSettingDeclarations, env), ...toStoredValues(initial) }
  const { settings, warnings } = readAuthSettings(values, env)
  const { ms: idleMs, warning } = readIdleWindow(env)
  for (const text of warnings) logger.warn(text)
  if (warning !== undefined) logger.warn(warning)
  for (const key of settingsWithoutEffect(initial)) {
    logger.warn(`settings.${key} has no effect yet: its feature is still to come`)
  }
  return { settings, idleMs, seeds: values }
}
