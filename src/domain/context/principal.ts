import type { AccessClaims } from '../../crypto/tokens.js'
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
