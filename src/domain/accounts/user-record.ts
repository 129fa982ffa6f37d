import { isHuman, type Membership, type User } from '../../model/user.js'
import type { UserKind } from '../../ports/surface.js'

/** A user as the host's code sees it, without password hash and internal counters. */
export interface UserRecord {
  readonly id: string
  /** Empty for a person, `service` for a service account; the same as in `GET …/me`. */
  readonly kind: UserKind
  readonly email: string
  readonly emailVerified: boolean
  readonly name: string
  readonly systemRole: string
  readonly enabled: boolean
  readonly hasPassword: boolean
  readonly memberships: readonly Membership[]
  /** Epoch milliseconds. */
  readonly createdAt: number
  readonly updatedAt: number
  /** Epoch milliseconds; null before the first login. */
  readonly lastLoginAt: number | null
}

export function recordOf(user: User): UserRecord {
  return {
    id: user.id,
    kind: isHuman(user) ? '' : 'service',
    email: user.email,
    emailVerified: user.emailVerifiedAt !== null,
    name: user.name,
    systemRole: user.systemRole,
    enabled: user.enabled,
    hasPassword: user.passwordHash !== null,
    memberships: user.memberships,
    createdAt: user.createdAt,
    updatedAt: user.updatedAt,
    lastLoginAt: user.lastLoginAt,
  }
}
