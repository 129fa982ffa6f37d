import type { ConfigReader } from '../domain/configuration/config-reader.js'
import { AuthError } from '../errors/index.js'
import type { Logger } from '../ports/host.js'
import { authSeedsFromEnv, toStoredValues } from '../settings/initial-values.js'
import { loadedSettings } from '../settings/loaded-settings.js'
import { readIdleWindow } from '../settings/login-and-sessions-settings.js'
import { type AuthSettings, authModuleName, type InitialSettings } from '../settings/settings.js'
import { isPublicAddress } from '../system/system-fetcher.js'

type Env = Readonly<Record<string, string | undefined>>

/**
 * The settings in force, frozen and at most 30 seconds old: one object until another revision was read, or nothing for
 * 30 seconds. Rejects with `service_unavailable` when they cannot be known; defaults never take their place.
 * What is not as it was meant is logged once a revision.
 */
export function liveSettings(
  reader: ConfigReader,
  env: Env,
  logger: Logger,
  adminStepUp = false,
): () => Promise<AuthSettings> {
  return reader.parsed(authModuleName, (loaded, isNew) => {
    const { settings, warnings } = loadedSettings(loaded, env, () => {
      throw new AuthError('service_unavailable')
    })
    if (!isNew) return settings
    for (const text of warnings) logger.warn(text)
    if (demandsNoFactorThereIs(settings, adminStepUp)) {
      logger.warn(
        'a second factor is demanded, and every kind of second factor is off: who has none cannot enroll one; switch totpEnabled or webauthnMode on',
      )
    }
    return settings
  })
}

/** What is fixed from the start, with a warning for all that is not as it was meant. */
export function loadSettings(
  initial: InitialSettings,
  env: Env,
  logger: Logger,
): {
  readonly idleMs: number
  /** The texts of what was given, first values of the configuration store. */
  readonly seeds: Readonly<Record<string, string>>
} {
  const seeds = { ...authSeedsFromEnv(env), ...toStoredValues(initial, isPublicAddress) }
  const { ms: idleMs, warning } = readIdleWindow(env)
  if (warning !== undefined) logger.warn(warning)
  return { idleMs, seeds }
}

/** An edit that comes to this is refused; first values, and a later `adminStepUp`, are not. */
function demandsNoFactorThereIs(settings: AuthSettings, adminStepUp: boolean): boolean {
  const { totpEnabled, webauthnMode, mfaPolicyOperator, mfaPolicyClient } = settings
  const isDemanded = [mfaPolicyOperator, mfaPolicyClient].includes('required') || adminStepUp
  return isDemanded && !totpEnabled && webauthnMode === 'off'
}
