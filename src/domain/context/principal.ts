import type { VerifiedToken } from '../../crypto/memos.js'
import type { AccessClaims } from '../../crypto/token-format.js'
import type { User } from '../../model/user.js'
import type { Surface, UserKind } from '../../ports/surface.js'

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
