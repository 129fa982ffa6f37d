import type { AccessClaims } from '../crypto/verify-token.js'
import type { User } from '../model/user.js'
import type { Surface } from '../ports/surface.js'

/** Who a bearer token speaks for. The type parameter keeps the two surfaces' principals apart. */
export interface Principal<S extends Surface = Surface> {
  readonly surface: S
  readonly userId: string
  readonly kind: 'human' | 'service'
  /** Null for a service token, which has no session. */
  readonly sessionId: string | null
  readonly claims: AccessClaims
}

/** A person with a session, and their record as read for this request. */
export interface SignedIn {
  readonly principal: Principal
  readonly sessionId: string
  readonly user: User
}
