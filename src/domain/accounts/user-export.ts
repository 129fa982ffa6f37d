import {
  type CollectionEntry,
  type Collections,
  removedBy,
  surfaceCollections,
} from '../../model/collections.js'
import type { AuditRecord } from '../../model/event-records.js'
import { isHuman } from '../../model/user.js'
import type { Collection, Doc } from '../../ports/store.js'
import { newestFirst } from '../../stores/newest-first.js'
import { isVoidProof } from '../context/open-collections.js'
import type { SurfaceContext } from '../surface/surface-context.js'

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
  knownLogins: ['id', ...login],
  pendingRegistrations: [
    ...['id', 'method', 'email', 'emailAsTyped', 'name', 'termsVersion', 'createdAt', 'expiresAt'],
  ],
  tickets: ['purpose', 'email', 'sessionId', 'expiresAt'],
  loginTickets: ['purpose', 'loginMethod', 'amr', 'delivery', 'attempts', 'expiresAt'],
  stepUpProofs: ['id', 'method', 'provedAt', 'expiresAt'],
  trustedDevices: ['id', 'name', 'createdAt', 'lastUsedAt', 'expiresAt'],
  oauthIdentities: ['provider', 'issuer', 'subject', 'linkedAt'],
  oauthFlows: ['provider', 'kind', 'redirectUri', 'termsVersion', 'sessionId', 'expiresAt'],
  oauthCodes: ['provider', 'goodUntil', 'redeemedAt', 'replayedAt', 'sessionId', 'expiresAt'],
  passkeys: [
    ...['id', 'name', 'publicKey', 'counter', 'transports', 'backupEligible', 'backedUp'],
    ...['createdAt', 'lastUsedAt'],
  ],
  passkeyChallenges: ['ceremony', 'expiresAt'],
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

interface Owned extends Doc {
  readonly userId: string
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
  const registered = await allOf(pendingRegistrations, { email: user.email })
  found.set('pendingRegistrations', registered)
  found.set('auditRecords', await auditOf(collections, id))
  const entries = [...found].map(([member, docs]) => {
    const { name } = surfaceCollections[member]
    return [name, docs.map((doc) => membersOf(doc, exportedMembers[name] ?? []))]
  })
  return { exportedAt: clock.now(), collections: Object.fromEntries(entries) }
}

function membersOf(doc: Doc, names: readonly string[]): Readonly<Record<string, unknown>> {
  const members: Readonly<Record<string, unknown>> = { ...doc }
  return Object.fromEntries(names.map((name) => [name, members[name]]))
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
