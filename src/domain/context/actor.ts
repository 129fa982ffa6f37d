import type { VerifiedToken } from '../../crypto/memos.js'
import type { AccessClaims } from '../../crypto/token-format.js'
import { isStorable, isStorableId, longestId } from '../../engine/text.js'
import { AuthError, type ErrorCode } from '../../errors/index.js'
import type { User } from '../../model/user.js'
import type { RequestSource, Surface, UserKind } from '../../ports/surface.js'

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

/**
 * The user or service account of an access token. The type parameter keeps the principals of the two
 * surfaces apart. Pass it on as it is: the library does not know which key signed the token of a copy, so
 * it does not notice that this key was replaced.
 */
export interface Principal<S extends Surface = Surface> {
  readonly surface: S
  readonly userId: string
  /** Empty for a person, `service` for a service account. */
  readonly kind: UserKind
  /** Null for a service token, which has no session. */
  readonly sessionId: string | null
  /** Frozen: requests of one token share them. */
  readonly claims: AccessClaims
}

/** A principal that was admitted, with the user record as read for this request. */
export interface Admitted {
  readonly principal: Principal
  readonly user: User
}

/** A person with a session. */
export interface SignedIn extends Admitted {
  readonly sessionId: string
}

/**
 * Makes principals, and notes of each what only the library has to know. It knows nothing of another object, such as a
 * copy.
 */
export interface KnownPrincipals {
  /** `now` in epoch milliseconds. */
  letIn(verified: VerifiedToken, now: number): Principal
  /** The `kid` of the key that signed its token; null where it is not known. */
  kidOf(principal: Principal): string | null
  /** When it was found to be good last, in epoch milliseconds; -Infinity where it is not known. */
  goodAt(principal: Principal): number
  /** Notes when it was found to be good. With -Infinity it is asked about again. */
  note(principal: Principal, at: number): void
}

export function knownPrincipals(surface: Surface): KnownPrincipals {
  /**
   * Private fields: a host's copy does not have them, and they are of this surface of this `createAuth` alone, as the class
   * is. A WeakMap would do the same, and take more of a guarded request than all its checks.
   */
  class KnownPrincipal implements Principal {
    readonly surface: Surface
    readonly userId: string
    readonly kind: UserKind
    readonly sessionId: string | null
    readonly claims: AccessClaims
    readonly #kid: string
    #goodAt: number

    constructor({ claims, kid }: VerifiedToken, now: number) {
      this.surface = surface
      this.userId = claims.sub
      this.kind = claims.aud === 'service' ? 'service' : ''
      this.sessionId = claims.sid ?? null
      this.claims = claims
      this.#kid = kid
      this.#goodAt = now
    }

    static kidOf(principal: Principal): string | null {
      return #kid in principal ? principal.#kid : null
    }

    static goodAt(principal: Principal): number {
      return #goodAt in principal ? principal.#goodAt : Number.NEGATIVE_INFINITY
    }

    static note(principal: Principal, at: number): void {
      if (#goodAt in principal) principal.#goodAt = at
    }
  }

  const { kidOf, goodAt, note } = KnownPrincipal
  return { letIn: (verified, now) => new KnownPrincipal(verified, now), kidOf, goodAt, note }
}
