import { isStorable, isStorableId, longestId } from '../../engine/text.js'
import { AuthError, type ErrorCode } from '../../errors/index.js'
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

/** The `reason` of an event about an act that failed. */
export function reasonOf(error: unknown): ErrorCode {
  return error instanceof AuthError ? error.code : 'internal_error'
}

/**
 * An id that the host's code gave, as `name` of its docstring. Throws `invalid_request`, naming it: a store refuses
 * anything but text, which would look like its failure.
 */
export function storedText(name: string, given: unknown): string {
  if (isStorableId(given)) return given
  const detail = `${name} must be a text of at most ${longestId} characters, well-formed and without NUL.`
  throw new AuthError('invalid_request', { detail })
}

interface PageRequest {
  readonly limit?: number
  readonly after?: string
}

const usualLimit = 50
const largestLimit = 200

/**
 * What to read for a page that the host's code asked for. Throws `invalid_request` for a limit or a start that cannot be,
 * and for unknown members: a misspelt `after` would begin at the first page again and again.
 */
export function hostPage({ limit = usualLimit, after, ...rest }: PageRequest) {
  const isLimit = Number.isInteger(limit) && limit >= 1 && limit <= largestLimit
  const [unknown] = Object.keys(rest)
  const problem =
    (unknown !== undefined && `members do not include "${unknown}".`) ||
    (!isLimit && `limit must be a whole number from 1 to ${largestLimit}.`) ||
    (after !== undefined && !isStorableId(after) && 'after must be the next of the page before.')
  if (problem) throw new AuthError('invalid_request', { detail: `A page's ${problem}` })
  return {
    /** One more than asked for shows whether there is a next page. */
    read: { limit: limit + 1, ...(after === undefined ? {} : { after }) },
    /** The page out of what was read, and the `after` of the next one; null on the last page. */
    cut<T extends { readonly id: string }>(found: readonly T[]) {
      const shown = found.slice(0, limit)
      return { shown, next: found.length > limit ? (shown.at(-1)?.id ?? null) : null }
    },
  }
}
