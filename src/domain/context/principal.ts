import type { AccessClaims } from '../../crypto/verify-token.js'
import type { User } from '../../model/user.js'
import type { Surface } from '../../ports/surface.js'

/**
 * The user or service account of an access token. The type parameter keeps the principals of the two
 * surfaces apart.
 */
export interface Principal<S extends Surface = Surface> {
  readonly surface: S
  readonly userId: string
  readonly kind: 'human' | 'service'
  /** Null for a service token, which has no session. */
  readonly sessionId: string | null
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
