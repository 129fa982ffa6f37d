import { uuidv7 } from '../../crypto/secrets.js'
import { disabledImport, isUnfinishedImport, unfinishedImport } from '../../engine/accounts.js'
import { isBeingLinked, isHuman, newUser, type OauthIdentity, type User } from '../../model/user.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { takeBackUsed } from '../context/take-back-used.js'
import { sealTotp } from '../factors/seal-totp.js'
import type { OauthIdentities, ProviderAccount } from '../oauth/oauth-identities.js'
import { checkRoles } from './check-roles.js'
import type { ImportConflict, ImportedIdentity, ImportResult } from './import-batch.js'
import { type ImportRow, refusal } from './read-import-row.js'

export interface AccountImportDeps
  extends Pick<SurfaceContext, 'surface' | 'collections' | 'clock' | 'random' | 'secretBox'> {
  readonly oauthIdentities: Pick<
    OauthIdentities,
    'find' | 'ofUser' | 'add' | 'takeBack' | 'takeAbandoned'
  >
}

const gone = refusal(
  'id_deleted',
  'An account had this id and was deleted. Import it with another id.',
)

/** Another import of the row may come between; each try sees what it left. */
const tries = 6

/**
 * Makes the account of a row, all or nothing, unless the row's account, or a part of it, is there already.
 * If two calls import it at once, one creates it. A dry run only reads. Rejects when the store fails; repeated, it
 * completes what was begun.
 */
export function createAccountImport(
  deps: AccountImportDeps,
  dryRun: boolean,
): (row: ImportRow) => Promise<ImportResult> {
  const { clock, random, oauthIdentities } = deps
  const { users, accountDeletions, totpFactors } = deps.collections

  async function find({ id, email }: ImportRow): Promise<User | null> {
    const known = id === null ? null : await users.get(id)
    if (known !== null) return known
    const [holder = null] = await users.find({ email }, { limit: 1 })
    return holder
  }

  const isGone = async (userId: string) => (await users.get(userId)) === null

  function userOf(row: ImportRow): User {
    const now = clock.now()
    const { email, emailAsTyped, emailVerifiedAt, name, systemRole } = row
    const inOne = isWrittenAtOnce(row)
    const user = newUser(now, {
      ...{ email, emailAsTyped, emailVerifiedAt, name, systemRole },
      id: row.id ?? uuidv7(now, random),
      ...passwordOf(row),
      memberships: row.memberships,
      enabled: inOne && row.enabled,
      lastIntentId: inOne ? null : unfinishedImport,
    })
    return { ...user, createdAt: row.createdAt ?? now, lastLoginAt: row.lastLoginAt }
  }

  function passwordOf({ passwordHash, passwordChangedAt }: ImportRow) {
    if (passwordHash === null) return { passwordHash, passwordChangedAt: null }
    return { passwordHash, passwordChangedAt: passwordChangedAt ?? clock.now() }
  }

  /** Whether another account has one of the identities, or a sign-up or a linking of it is under way. */
  async function hasTaken({ identities }: ImportRow, userId: string | null): Promise<boolean> {
    for (const identity of identities) {
      const known = await oauthIdentities.find(identity)
      if (known === null || known.userId === userId) continue
      if (!isBeingLinked(known) && !(await isGone(known.userId))) return true
      if (!dryRun && !(await oauthIdentities.takeAbandoned(known))) return true
    }
    return false
  }

  /** The identities that it added; null when one of them belongs to another account. */
  async function link(
    identities: readonly ImportedIdentity[],
    userId: string,
  ): Promise<readonly OauthIdentity[] | null> {
    const added: OauthIdentity[] = []
    for (const identity of identities) {
      const mine = await oauthIdentities.add(identity, userId)
      if (mine !== null) added.push(mine)
      else if ((await oauthIdentities.find(identity))?.userId !== userId) {
        await takeBack(added)
        return null
      }
    }
    return added
  }

  async function takeBack(added: readonly OauthIdentity[]): Promise<void> {
    for (const identity of added) await oauthIdentities.takeBack(identity)
  }

  /** Replaces that of an earlier import, whose row may have had another secret. */
  async function putTotp(user: User, secret: string): Promise<void> {
    const { id, credentialEpoch, deviceEpoch } = user
    const sealed = sealTotp(deps, id, secret)
    const isInserted = await totpFactors.insert({
      id,
      expiresAt: null,
      userId: id,
      ...sealed,
      confirmed: true,
      lastStep: 0,
      removingBy: null,
      enrollmentId: null,
      createdAt: clock.now(),
      boundTo: '',
      credentialEpoch,
      deviceEpoch,
    })
    if (!isInserted) await totpFactors.update(id, { lastStep: 0 }, sealed)
  }

  /**
   * Takes the identities that imports linked to an account, but for those that stay. False where it is no longer
   * unfinished: then they may be its owner's.
   */
  async function unlink(id: string, staying: readonly ImportedIdentity[]): Promise<boolean> {
    const stays = (one: ProviderAccount) => staying.some((other) => isSameAccount(one, other))
    const others = (await oauthIdentities.ofUser(id)).filter((one) => !stays(one))
    if (others.length === 0) return true
    const now = await users.get(id)
    if (now === null || !isUnfinishedImport(now)) return false
    await takeBack(others)
    return true
  }

  /** Takes the account away with what imports gave it, unless it is no longer unfinished. A dry run leaves it. */
  async function giveUp(user: User, result: ImportResult): Promise<ImportResult> {
    if (dryRun) return result
    const { id, lastIntentId } = user
    const guard = { lastIntentId, enabled: false, deletingAt: null }
    // Before the account goes: an identity without one would open what later gets its id.
    await unlink(id, [])
    if ((await users.take(id, guard)) !== null) await totpFactors.take(id)
    return result
  }

  /** Factors and identities first; with the last write the account can be used. */
  async function complete(row: ImportRow, user: User): Promise<ImportResult | typeof conflict> {
    const { id, lastIntentId } = user
    // A deletion finds it disabled, and leaves the mark.
    const guard = { lastIntentId, enabled: false, deletingAt: null }
    const added = await link(row.identities, id)
    if (added === null) return giveUp(user, conflictOf('identity_taken'))
    if (row.totpSecret !== null) await putTotp(user, row.totpSecret)
    // The host's word on it counts, also where the row says otherwise.
    const enabled = row.enabled && lastIntentId !== disabledImport
    const set = { lastIntentId: null, enabled, ...passwordOf(row) }
    if ((await users.update(id, guard, set)) !== null) return { outcome: 'created', id }
    if (await isGone(id)) {
      await takeBack(added)
      await totpFactors.take(id)
    }
    return conflict
  }

  const isDeleted = async ({ id }: ImportRow) =>
    id !== null && (await accountDeletions.get(id)) !== null

  async function make(row: ImportRow): Promise<ImportResult | typeof conflict> {
    // After the account itself was looked for: a deletion notes itself before the account goes.
    if (await isDeleted(row)) return gone
    if (await hasTaken(row, row.id)) {
      // Perhaps by this row's own account, which another import made since it was looked for.
      return (await find(row)) === null ? conflictOf('identity_taken') : conflict
    }
    if (dryRun) return { outcome: 'creatable' }
    const user = userOf(row)
    // The rule of `assertRoleAssignable`: an imported user is a person.
    checkRoles([user.systemRole], user)
    return insert(row, user)
  }

  async function insert(row: ImportRow, user: User): Promise<ImportResult | typeof conflict> {
    if (!(await users.insert(user))) return conflict
    if (row.id !== null && (await takeBackUsed(deps.collections, row.id))) return gone
    if (!isWrittenAtOnce(row)) return complete(row, user)
    return { outcome: 'created', id: user.id }
  }

  async function goOn(row: ImportRow, found: User): Promise<ImportResult | typeof conflict> {
    const { id, email } = found
    if (!isUnfinishedImport(found)) {
      return { outcome: 'skipped', id, emailDiffers: email !== row.email }
    }
    // It was cut off between the account and the look at the note of a deletion. Its address is given free.
    if (await isDeleted(row)) return giveUp(found, gone)
    if (isWrittenAtOnce(row) || email !== row.email) return conflictOf('email_taken')
    if (await hasTaken(row, id)) return conflictOf('identity_taken')
    if (dryRun) return { outcome: 'creatable' }
    // What the row has no more, perhaps because a stranger had added it.
    return (await unlink(id, row.identities)) ? complete(row, found) : conflict
  }

  async function attempt(row: ImportRow): Promise<ImportResult | typeof conflict> {
    const found = await find(row)
    return found === null ? make(row) : (refusalBeside(row, found) ?? goOn(row, found))
  }

  return (row) => retryOnConflict(tries, () => attempt(row))
}

/** Without factors and identities there is no moment in which something is missing. */
function isWrittenAtOnce({ identities, totpSecret }: ImportRow): boolean {
  return identities.length === 0 && totpSecret === null
}

function isSameAccount(one: ProviderAccount, other: ProviderAccount): boolean {
  const { provider, issuer, subject } = one
  return provider === other.provider && issuer === other.issuer && subject === other.subject
}

/**
 * By its id, or else by its address where the host's code made it, and at the same time if the row says
 * when. The user who registered with the address by the form is perhaps another person.
 */
function isSame(row: ImportRow, found: User): boolean {
  if (!isHuman(found)) return false
  if (row.id !== null) return row.id === found.id
  const isSameTime = row.createdAt === null || row.createdAt === found.createdAt
  return !found.selfRegistered && found.deletingAt === null && isSameTime
}

/** Null where the account that was found is that of the row. */
function refusalBeside(row: ImportRow, found: User): ImportResult | null {
  const isOwn = row.id === found.id
  if (isOwn && found.deletingAt !== null) {
    return refusal('id_deleted', 'The account with this id is being deleted.')
  }
  return isSame(row, found) ? null : conflictOf(isOwn ? 'id_taken' : 'email_taken')
}

const conflictReasons: Readonly<Record<ImportConflict, string>> = {
  id_taken: 'Another account has this id.',
  email_taken: 'Another account has this address.',
  identity_taken:
    'Another account has one of the identities, or someone is signing up with it or linking it.',
  duplicate_row: 'An earlier row of the batch has the same id, address or identity.',
}

export function conflictOf(code: ImportConflict): ImportResult {
  return { outcome: 'conflict', code, reason: conflictReasons[code] }
}
