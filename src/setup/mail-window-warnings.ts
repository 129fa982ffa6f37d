import { resetLinkMs } from '../engine/duration.js'
import type { AuthOptions } from '../options.js'

/**
 * What the log says of a window of mails that is longer than the life of a reset link: a stranger who
 * uses up the mails of an address leaves its owner without a link until the window ends.
 */
export function mailWindowWarnings(surfaces: AuthOptions['surfaces']): readonly string[] {
  return (['operator', 'client'] as const).flatMap((surface) => {
    const windowMs = surfaces[surface].rateLimits?.recoveryPerAddress?.windowMs ?? 0
    if (windowMs <= resetLinkMs) return []
    return `surfaces.${surface}.rateLimits.recoveryPerAddress.windowMs is ${windowMs} milliseconds, longer than the hour that a reset link lives: a stranger who uses up the mails of an address leaves its owner without a link for the rest. Make it at most ${resetLinkMs}, with a lower limit where fewer mails are wanted.`
  })
}
