import { isStorable } from '../../engine/text.js'
import { AuthError } from '../../errors/index.js'
import type { RequestSource } from '../../ports/surface.js'

/**
 * The user on whose behalf the host's code acts, for events and audit records only. Null is the same as
 * left out, so the `ip` and `userAgent` of an event or a session fit as they are.
 */
export interface Actor {
  /** An id of yours, or of a user; at most 200 characters. */
  readonly actorId?: string | null | undefined
  /** At most 200 characters. */
  readonly ip?: string | null | undefined
  /** Cut to 512 characters. */
  readonly userAgent?: string | null | undefined
}

export interface Act extends MayStill {
  readonly actorId: string | null
  readonly source: RequestSource
}

export interface MayStill {
  /**
   * Asks again whether the actor may do it, before a write that had to wait: a session or a permission may have ended
   * meanwhile. Throws as the guards do. Left out where the host's own code acts.
   */
  readonly askAgain?: () => Promise<void>
}

const shape =
  'Who acts must be given as { actorId, ip, userAgent }, texts or left out, the first two of 1 to 200 characters.'

/** Throws `invalid_request` for anything that could not be stored. */
export function actBy({ actorId, ip, userAgent, ...rest }: Actor): Act {
  const valid =
    Object.keys(rest).length === 0 &&
    [actorId, ip, userAgent].every((text) => (text ?? null) === null || isStorable(text)) &&
    [actorId, ip].every((text) => (text ?? 'none').length <= 200 && text !== '')
  if (!valid) throw new AuthError('invalid_request', { detail: shape })
  return {
    actorId: actorId ?? null,
    source: { ip: ip ?? null, userAgent: userAgent?.slice(0, 512).toWellFormed() ?? null },
  }
}
