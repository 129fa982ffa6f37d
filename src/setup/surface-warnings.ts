import type { AuthOptions } from '../options.js'
import { mailWindowWarnings } from './mail-window-warnings.js'
import { sharedCookieWarning } from './shared-cookie-warning.js'
import { refuseContradictions } from './surface-contradictions.js'

/**
 * What the log says at the start of options that work, and that let in more than they seem to. Throws
 * an `OptionsError` for those that cannot work.
 */
export function surfaceWarnings(surfaces: AuthOptions['surfaces']): readonly string[] {
  refuseContradictions(surfaces)
  const cookies = sharedCookieWarning(surfaces)
  return [...(cookies === null ? [] : [cookies]), ...mailWindowWarnings(surfaces)]
}
