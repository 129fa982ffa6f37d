import { userProblem } from '../../engine/accounts.js'
import { AuthError } from '../../errors/index.js'
import type { Membership } from '../../model/user.js'

/** A user to create. */
export interface NewUser {
  readonly email: string
  /** Default empty. */
  readonly name?: string
  /** Checked against the password policy. Without it, the user sets one with a reset link. */
  readonly password?: string
  /** Default false: the user confirms the address before the first login. */
  readonly emailVerified?: boolean
  /** At most 100 characters, well-formed and without NUL. Default `guest`. */
  readonly systemRole?: string
  /** Tenant ids of 1 to 64 characters; at most 4 KiB as JSON, which is some 75 UUIDs. */
  readonly memberships?: readonly Membership[]
}

/** The changes of a user; absent members stay. `kind` is set at creation and never changes. */
export interface UserChanges {
  readonly name?: string
  /** False ends all sessions, voids mailed links and forgets trusted devices. */
  readonly enabled?: boolean
  readonly systemRole?: string
  readonly memberships?: readonly Membership[]
}

/** Refuses what is no member, such as `enabled`, rather than make another user than was meant. */
export function onlyMembers(input: NewUser): NewUser {
  const { email, name, password, emailVerified, systemRole, memberships, ...rest } = input
  if (Object.keys(rest).length > 0) {
    throw invalidUser(
      'members are email, name, password, emailVerified, systemRole and memberships, and no others.',
    )
  }
  refuse(userProblem(input))
  if (password !== undefined && typeof password !== 'string') {
    throw invalidUser('password must be a text, or left out.')
  }
  return input
}

/** Refuses anything but the four members, whatever a cast let through. */
export function onlyKnown(changes: UserChanges): UserChanges {
  const { name, enabled, systemRole, memberships, ...rest } = changes
  if (Object.keys(rest).length > 0) {
    throw invalidUser('changes are name, enabled, systemRole and memberships, and no others.')
  }
  refuse(userProblem(changes))
  return {
    ...(name === undefined ? {} : { name }),
    ...(enabled === undefined ? {} : { enabled }),
    ...(systemRole === undefined ? {} : { systemRole }),
    ...(memberships === undefined ? {} : { memberships }),
  }
}

function refuse(problem: string | null): void {
  if (problem !== null) throw invalidUser(problem)
}

export function invalidUser(problem: string): AuthError {
  return new AuthError('invalid_request', { detail: `A user's ${problem}` })
}
