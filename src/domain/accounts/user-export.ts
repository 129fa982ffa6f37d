import { isPeopleOnlyRole, userProblem } from '../../engine/accounts.js'
import { nameAsSingleLine } from '../../engine/text.js'
import { AuthError } from '../../errors/index.js'
import {
  type CollectionEntry,
  type Collections,
  removedBy,
  surfaceCollections,
} from '../../model/collections.js'
import type { AuditRecord } from '../../model/event-records.js'
import { isHuman, type Membership, type User } from '../../model/user.js'
import type { AccountField, AccountStanding } from '../../ports/events.js'
import type { Collection, Doc } from '../../ports/store.js'
import type { UserKind } from '../../ports/surface.js'
import { newestFirst } from '../../stores/pages.js'
import { type Act, reasonOf } from '../context/actor.js'
import { isVoidProof } from '../context/open-collections.js'
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
  /**
   * 1 to 100 characters in Unicode form NFC, without blanks around it and without characters that are not seen, as the
   * name of every role. Default `guest`.
   */
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
  /** The whole list. To add or remove one, call `users.memberships`. */
  readonly memberships?: readonly Membership[]
  /** The list is written only if the user still has this `membershipsRevision`. Without it, it replaces any other. */
  readonly membershipsRevision?: number
}

/** Refuses what is no member, such as `enabled`, rather than make another user than was meant. */
export function onlyMembers(input: NewUser): NewUser {
  const { email, name, password, emailVerified, systemRole, memberships, ...rest } = input
  if (Object.keys(rest).length > 0) {
    throw invalidUser(
      'members are email, name, password, emailVerified, systemRole and memberships, and no others.',
    )
  }
  const named = nameAsSingleLine(input)
  refuse(userProblem(named))
  if (password !== undefined && typeof password !== 'string') {
    throw invalidUser('password must be a text, or left out.')
  }
  return named
}

/** Refuses unknown members, which a cast may have let through. */
export function onlyKnown(given: UserChanges): UserChanges {
  const changes = nameAsSingleLine(given)
  const { name, enabled, systemRole, memberships, membershipsRevision, ...rest } = changes
  if (Object.keys(rest).length > 0) {
    const members = 'name, enabled, systemRole, memberships and membershipsRevision'
    throw invalidUser(`changes are ${members}, and no others.`)
  }
  if (membershipsRevision !== undefined && !Number.isSafeInteger(membershipsRevision)) {
    throw invalidUser('membershipsRevision must be the number that its record has.')
  }
  refuse(userProblem(changes))
  return {
    ...(name === undefined ? {} : { name }),
    ...(enabled === undefined ? {} : { enabled }),
    ...(systemRole === undefined ? {} : { systemRole }),
    ...(memberships === undefined ? {} : { memberships }),
    ...(membershipsRevision === undefined ? {} : { membershipsRevision }),
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
  /** Grows with every change of `memberships`. */
  readonly membershipsRevision: number
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
    membershipsRevision: user.membershipsRevision,
    createdAt: user.createdAt,
    updatedAt: user.updatedAt,
    lastLoginAt: user.lastLoginAt,
  }
}

/** Fails closed: an account that cannot be read does not count as a person. */
export function checkRoles(roles: readonly string[], user: User | null): void {
  if (!roles.some(isPeopleOnlyRole)) return
  if (user === null || !isHuman(user)) throw new AuthError('role_not_assignable')
}

// Emits what is done to accounts, mostly by the host's code, also when it fails.

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
export function emitUserFailed(
  ctx: SurfaceContext,
  type: 'account.updateFailed' | 'account.deleteFailed',
  { actorId, source }: Act,
  { targetId, error }: { readonly targetId: string; readonly error?: unknown },
): void {
  const reason = error === undefined ? 'not_found' : reasonOf(error)
  ctx.emit(type, source, { actorId, targetId, reason })
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

/** What is stored of one person. */
export interface UserExport {
  /** Epoch milliseconds. */
  readonly exportedAt: number
  /**
   * Documents, newest first, by the name of their collection without prefix and surface, such as
   * `sessions`. Times are epoch milliseconds. No document holds a secret, its hash or what it is checked by.
   */
  readonly collections: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>
}

type Member = keyof typeof surfaceCollections
type PersonalBy<R extends CollectionEntry['removal']> = {
  [M in Member]: (typeof surfaceCollections)[M]['removal'] extends R ? M : never
}[Member]

/** What goes with an account, and what names it and stays. */
type Personal = PersonalBy<'byUserId' | 'byId' | 'last'> | 'users' | 'auditRecords'

const login = ['loginAt', 'loginMethod', 'mfaMethod', 'ip', 'userAgent', 'deviceId', 'expiresAt']

/**
 * The members that are shown. Secrets, their hashes, epochs and marks of work under way are left out: they
 * say nothing of the person, and the first would let a finder of the export in.
 */
const shown: Readonly<Record<Personal, readonly string[]>> = {
  users: [
    ...['id', 'email', 'emailAsTyped', 'emailVerifiedAt', 'name', 'systemRole', 'enabled'],
    ...['selfRegistered', 'passwordChangedAt', 'termsVersion', 'memberships', 'createdAt'],
    ...['updatedAt', 'lastLoginAt', 'deletingAt'],
  ],
  sessions: ['id', 'active', 'endedAt', 'endReason', ...login],
  families: ['id', 'loginAt', 'rotatedAt', 'delivery', 'expiresAt', 'revokedAt', 'revokedReason'],
  knownLogins: ['id', 'sessionId', ...login],
  pendingRegistrations: [
    ...['id', 'method', 'provider', 'issuer', 'subject', 'email', 'emailAsTyped', 'name'],
    ...['termsVersion', 'createdAt', 'expiresAt'],
  ],
  intents: ['kind', 'boundTo', 'attempts', 'payload', 'expiresAt'],
  challenges: ['kind', 'attempts', 'sessionId', 'payload', 'expiresAt'],
  stepUpProofs: ['id', 'method', 'provedAt', 'expiresAt'],
  trustedDevices: ['id', 'name', 'createdAt', 'lastUsedAt', 'expiresAt'],
  oauthIdentities: ['provider', 'issuer', 'subject', 'linkedAt'],
  passkeys: [
    ...['id', 'name', 'publicKey', 'counter', 'transports', 'backupEligible', 'backedUp'],
    ...['createdAt', 'lastUsedAt'],
  ],
  totpFactors: ['confirmed', 'createdAt'],
  backupCodes: ['createdAt'],
  passwordHistories: [],
  roleBindings: ['roleId', 'tenantId', 'createdAt'],
  auditRecords: [
    ...[
      'at',
      'action',
      'outcome',
      'actorId',
      'targetId',
      'sessionId',
      'ip',
      'userAgent',
      'details',
    ],
    'expiresAt',
  ],
}

/** The members that are shown, by the name of the collection. */
export const exportedMembers: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  (Object.keys(shown) as readonly Personal[]).map((member) => {
    return [surfaceCollections[member].name, shown[member]]
  }),
)

/** The members of an intent's payload that an export shows. The others may be secrets. */
export const exportedOfPayload: readonly string[] = [
  ...['email', 'method', 'amr', 'delivery', 'provider', 'redirectUri', 'termsVersion'],
  ...['sessionId', 'goodUntil'],
]

interface Owned extends Doc {
  readonly userId: string | null
}

/** Null for an unknown id and for a service account. A user who changes meanwhile is read as they are then. */
export async function exportUser(
  { collections, clock }: Pick<SurfaceContext, 'collections' | 'clock'>,
  id: string,
): Promise<UserExport | null> {
  const { users, pendingRegistrations } = collections
  const user = await users.get(id)
  if (user === null || !isHuman(user)) return null
  const found = new Map<Personal, readonly Doc[]>([['users', [user]]])
  for (const member of [...removedBy('byUserId'), ...removedBy('last')]) {
    found.set(member, await allOf<Owned>(collections[member], { userId: id }))
  }
  for (const member of removedBy('byId')) found.set(member, await oneOf(collections[member], id))
  const proofs = await allOf(collections.stepUpProofs, { userId: id })
  found.set(
    'stepUpProofs',
    proofs.filter((proof) => !isVoidProof(proof)),
  )
  // A sign-up that was begun anew may name another address than the account.
  const ofAddress = await allOf(pendingRegistrations, { email: user.email })
  const own = found.get('pendingRegistrations') ?? []
  const registered = new Map([...own, ...ofAddress].map((one) => [one.id, one]))
  found.set('pendingRegistrations', [...registered.values()])
  found.set('auditRecords', await auditOf(collections, id))
  const entries = [...found].map(([member, docs]) => {
    const { name } = surfaceCollections[member]
    return [name, docs.map((doc) => membersOf(doc, exportedMembers[name] ?? []))]
  })
  return { exportedAt: clock.now(), collections: Object.fromEntries(entries) }
}

function membersOf(doc: Doc, names: readonly string[]): Readonly<Record<string, unknown>> {
  const members: Readonly<Record<string, unknown>> = { ...doc }
  return Object.fromEntries(names.map((name) => [name, shownOf(name, members[name])]))
}

function shownOf(name: string, value: unknown): unknown {
  if (name !== 'payload') return value
  return Object.fromEntries(
    Object.entries(Object(value)).filter(([member]) => exportedOfPayload.includes(member)),
  )
}

async function oneOf(collection: Collection<Doc>, id: string): Promise<readonly Doc[]> {
  const doc = await collection.get(id)
  return doc === null ? [] : [doc]
}

async function allOf<T extends Doc>(
  from: Pick<Collection<T>, 'find'>,
  equal: Partial<T>,
): Promise<readonly T[]> {
  const docs: T[] = []
  for await (const doc of newestFirst(from, equal)) docs.push(doc)
  return docs
}

/** Acts of administrators alone, where the host's code names none: owners are named in their own. */
const byOthers =
  /^(?:account\.(?:created|updated|updateFailed|deleted|deleteFailed)|role\.\w+|session\.allTerminated|mfa\.changed)$/

/** The network and the user agent of an administrator are that person's own data. */
function withoutStranger(record: AuditRecord, id: string): AuditRecord {
  const { actorId, action, details } = record
  const isEnding = action === 'session.terminated' && details['reason'] === 'admin'
  const isOther = actorId === null ? isEnding || byOthers.test(action) : actorId !== id
  return isOther ? { ...record, ip: null, userAgent: null } : record
}

/** What they did and what was done to them, each record once. */
async function auditOf({ auditRecords }: Collections, id: string): Promise<readonly Doc[]> {
  const own = await allOf(auditRecords, { targetId: id })
  const done = await allOf(auditRecords, { actorId: id })
  const all = [...own, ...done.filter(({ targetId }) => targetId !== id)]
  return all.map((record) => withoutStranger(record, id))
}
