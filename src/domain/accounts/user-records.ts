import { isPeopleOnlyRole, userProblem } from '../../engine/accounts.js'
import { AuthError } from '../../errors/index.js'
import { isHuman, type Membership, type User } from '../../model/user.js'
import type { AccountField, AccountStanding } from '../../ports/events.js'
import type { Collection } from '../../ports/store.js'
import type { UserKind } from '../../ports/surface.js'
import { type Act, hostPage, reasonOf } from '../context/actor.js'
import type { SurfaceContext } from '../surface/surface-context.js'

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

/** A page of users. */
export interface UserPage {
  /** By id: the oldest first, but for ids that an import gave. */
  readonly users: readonly UserRecord[]
  /** The `after` of the next page; null on the last page. */
  readonly next: string | null
}

/** The page of users to read. */
export interface UserPageRequest {
  /** Default empty: people. */
  readonly kind?: UserKind
  /** 1 to 200. Default 50. */
  readonly limit?: number
  /** The `next` of the previous page. Default: the first page. */
  readonly after?: string
}

export async function listUsers(
  users: Pick<Collection<User>, 'find'>,
  { kind = '', ...request }: UserPageRequest,
): Promise<UserPage> {
  const page = hostPage(request)
  if (kind !== '' && kind !== 'service') {
    const detail = "A page's kind must be '', for people, or 'service'."
    throw new AuthError('invalid_request', { detail })
  }
  const { shown, next } = page.cut(await users.find({ kind }, page.read))
  return { users: shown.map(recordOf), next }
}

/** Fails closed: an account that cannot be read does not count as a person. */
export function checkRoles(roles: readonly string[], user: User | null): void {
  if (!roles.some(isPeopleOnlyRole)) return
  if (user === null || !isHuman(user)) throw new AuthError('role_not_assignable')
}

// Emits what is done to accounts, mostly by the host's code, also when it fails.

export function emitUserCreated(
  ctx: SurfaceContext,
  { actorId, source }: Act,
  targetId: string,
): void {
  ctx.emit('account.created', source, { actorId, targetId })
}

export function emitUserCreateFailed(
  ctx: SurfaceContext,
  { actorId, source }: Act,
  error: unknown,
): void {
  ctx.emit('account.createFailed', source, { actorId, reason: reasonOf(error) })
}

export function emitUserUpdated(
  ctx: SurfaceContext,
  { actorId, source }: Act,
  fields: readonly AccountField[],
  before: User,
  after: User,
): void {
  ctx.emit('account.updated', source, {
    actorId,
    targetId: after.id,
    fields,
    before: standingOf(before, fields),
    after: standingOf(after, fields),
  })
}

/** Without an error: there is no such account. */
export function emitUserUpdateFailed(
  ctx: SurfaceContext,
  { actorId, source }: Act,
  targetId: string,
  error?: unknown,
): void {
  const reason = error === undefined ? 'not_found' : reasonOf(error)
  ctx.emit('account.updateFailed', source, { actorId, targetId, reason })
}

export function emitUserDeleted(
  ctx: SurfaceContext,
  { actorId, source }: Act,
  targetId: string,
): void {
  ctx.emit('account.deleted', source, { actorId, targetId })
}

/** Without an error: there is no such account. */
export function emitUserDeleteFailed(
  ctx: SurfaceContext,
  { actorId, source }: Act,
  targetId: string,
  error?: unknown,
): void {
  const reason = error === undefined ? 'not_found' : reasonOf(error)
  ctx.emit('account.deleteFailed', source, { actorId, targetId, reason })
}

/** A name decides nothing, and records outlive the account: they say only that it changed. */
function standingOf(user: User, fields: readonly AccountField[]): AccountStanding {
  const { enabled, systemRole, memberships } = user
  return {
    ...(fields.includes('enabled') ? { enabled } : {}),
    ...(fields.includes('systemRole') ? { systemRole } : {}),
    ...(fields.includes('memberships') ? { memberships } : {}),
  }
}
