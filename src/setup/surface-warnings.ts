import type { AuthOptions } from '../options.js'
import { mailWindowWarnings } from './mail-window-warnings.js'
import { sharedCookieWarning } from './shared-cookie-warning.js'

/** What the log says at the start of options that work, and that let in more than they seem to. */
export function surfaceWarnings(surfaces: AuthOptions['surfaces']): readonly string[] {
  const cookies = sharedCookieWarning(surfaces)
  return [...(cookies === null ? [] : [cookies]), ...mailWindowWarnings(surfaces)]
}
