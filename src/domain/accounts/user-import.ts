import { allTried } from '../../concurrency/promises.js'
import { isUuid, uuidv7 } from '../../crypto/secrets.js'
import {
  entryRefusal,
  entryRules,
  isRoleName,
  isUnfinishedImport,
  roleNameForm,
  userProblem,
} from '../../engine/accounts.js'
import { bareHash } from '../../engine/passwords.js'
import { isStorable, nameAsSingleLine } from '../../engine/text.js'
import { AuthError } from '../../errors/index.js'
import { type KnownProviders, knownProviders } from '../../identity-providers/provider-clients.js'
import {
  isBeingLinked,
  isHuman,
  type Membership,
  madeAt,
  newUser,
  type OauthIdentity,
  type User,
} from '../../model/user.js'
import { gatheredCalls, mostGathered } from '../../stores/gathered-calls.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import { type Act, reasonOf } from '../context/actor.js'
import { readEmail } from '../context/email-address.js'
import { sealTotp } from '../factors/totp-factors.js'
import {
  addIdentity,
  findIdentity,
  identitiesOf,
  type ProviderAccount,
  takeAbandonedIdentity,
  takeBackIdentity,
} from '../oauth/oauth-links.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import { takeBackUsed } from '../surface/ways-in.js'
import { checkRoles } from './user-export.js'

const mostRows = 10_000
/** Rows that are written side by side, where the store has no calls for many. */
const atOnce = 8

/** Imports a batch, and tells of it once. */
export async function importUsers(
  ctx: SurfaceContext,
  batch: ImportBatch,
  act: Act,
): Promise<ImportReport> {
  const { actorId, source } = act
  const isDryRun = batch?.dryRun === true
  try {
    const report = reportOf(await importRows(ctx, batch))
    if (isDryRun) return report
    const { results: _, ...counts } = report
    ctx.emit('account.imported', source, { actorId, ...counts })
    return report
  } catch (error) {
    if (isDryRun) throw error
    ctx.emit('account.importFailed', source, { actorId, reason: reasonOf(error) })
    throw error
  }
}

async function importRows(
  ctx: SurfaceContext,
  batch: ImportBatch,
): Promise<readonly ImportResult[]> {
  const { users, allowRoles, dryRun, seen } = batchOf(batch)
  const rules = entryRules(ctx.surface, await ctx.settings())
  const now = ctx.clock.now()
  const place = createAccountImport(gatheredContext(ctx), dryRun)
  const sideBySide = ctx.collections.users.many === undefined ? atOnce : mostGathered
  const fresh = new Set<string>()
  const isRepeated = repetitions(seen, fresh)

  async function importOne(row: ImportRow | RefusedRow): Promise<ImportResult> {
    if ('outcome' in row) return row
    // Synchronous until here, so that of two rows it is the later one that repeats the other.
    if (isRepeated(row)) return conflictOf('duplicate_row')
    const applicant = { email: row.email, acceptedTerms: '' }
    if (entryRefusal('create', rules, { applicant }) !== null) {
      return refusal('email_not_allowed', 'No mail reaches this address.')
    }
    return (await hashRefusal(ctx, row)) ?? place(row)
  }

  const results: ImportResult[] = []
  for (let start = 0; start < users.length; start += sideBySide) {
    const given = users.slice(start, start + sideBySide)
    const rows = await allTried(
      given.map((row) => readImportRow(row, now, allowRoles, ctx.providers)),
    )
    results.push(...(await allTried(rows.map(importOne))))
  }
  // A call that fails is repeated with its rows.
  for (const key of fresh) seen.add(key)
  return results
}

/** Rows side by side take the same steps: each step of all of them is one call, in the order of those of one row. */
function gatheredContext(ctx: SurfaceContext): SurfaceContext {
  const { users, accountDeletions, oauthIdentities, totpFactors } = ctx.collections
  const { later } = ctx.background
  const collections = {
    ...ctx.collections,
    users: gatheredCalls(users, later, 'email'),
    accountDeletions: gatheredCalls(accountDeletions, later),
    oauthIdentities: gatheredCalls(oauthIdentities, later),
    totpFactors: gatheredCalls(totpFactors, later),
  }
  return { ...ctx, collections }
}

async function hashRefusal(
  { passwords }: SurfaceContext,
  { passwordHash }: ImportRow,
): Promise<RefusedRow | null> {
  const verdict = passwordHash === null ? 'checkable' : await passwords.judge(passwordHash)
  if (verdict === 'checkable') return null
  return verdict === 'tooCostly'
    ? refusal('hash_too_costly', 'The hash costs more than a login may.')
    : refusal('hash_not_supported', 'No format of legacyHashes and no verifier reads this hash.')
}

/** Whether a row shares what only one account can have with a row before it, of this call or of an earlier one. */
function repetitions(seen: ReadonlySet<string>, fresh: Set<string>): (row: ImportRow) => boolean {
  return ({ id, email, identities }) => {
    const keys = [
      ...(id === null ? [] : [`id ${id}`]),
      `email ${email}`,
      ...identities.map((one) => JSON.stringify([one.provider, one.issuer, one.subject])),
    ]
    const isRepeated = keys.some((key) => seen.has(key) || fresh.has(key))
    for (const key of keys) fresh.add(key)
    return isRepeated
  }
}

function batchOf({
  users,
  allowRoles = [],
  dryRun = false,
  seen = new Set(),
  ...rest
}: ImportBatch): Required<ImportBatch> {
  const problem =
    (Object.keys(rest).length > 0 &&
      'members are users, allowRoles, dryRun and seen, and no others.') ||
    (!(Array.isArray(users) && users.length <= mostRows) &&
      'users must be an array of at most 10,000 rows.') ||
    (!(Array.isArray(allowRoles) && allowRoles.every(isRoleName)) &&
      `allowRoles must be an array, each of it ${roleNameForm}.`) ||
    (typeof dryRun !== 'boolean' && 'dryRun must be true or false.') ||
    (!(seen instanceof Set) && 'seen must be a Set.')
  if (problem) throw new AuthError('invalid_request', { detail: `An import's ${problem}` })
  return { users, allowRoles, dryRun, seen }
}

function reportOf(results: readonly ImportResult[]): ImportReport {
  const count = (wanted: ImportResult['outcome']) =>
    results.filter(({ outcome }) => outcome === wanted).length
  return {
    created: count('created') + count('creatable'),
    skipped: count('skipped'),
    conflicts: count('conflict'),
    refused: count('refused'),
    results,
  }
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
function createAccountImport(
  ctx: SurfaceContext,
  dryRun: boolean,
): (row: ImportRow) => Promise<ImportResult> {
  async function find({ id, email }: ImportRow): Promise<User | null> {
    const known = id === null ? null : await ctx.collections.users.get(id)
    if (known !== null) return known
    const [holder = null] = await ctx.collections.users.find({ email }, { limit: 1 })
    return holder
  }

  const isGone = async (userId: string) => (await ctx.collections.users.get(userId)) === null

  function userOf(row: ImportRow): User {
    const now = ctx.clock.now()
    const { email, emailAsTyped, emailVerifiedAt, name, systemRole, memberships } = row
    const inOne = isWrittenAtOnce(row)
    const user = newUser(now, {
      ...{ email, emailAsTyped, emailVerifiedAt, name, systemRole, memberships },
      id: row.id ?? uuidv7(now, ctx.random),
      ...passwordOf(row),
      enabled: inOne && row.enabled,
      importState: inOne ? null : 'unfinished',
    })
    return { ...user, ...madeAt(row.createdAt ?? now), lastLoginAt: row.lastLoginAt }
  }

  function passwordOf({ passwordHash, passwordChangedAt }: ImportRow) {
    if (passwordHash === null) return { passwordHash, passwordChangedAt: null }
    return { passwordHash, passwordChangedAt: passwordChangedAt ?? ctx.clock.now() }
  }
  /** Whether another account has one of the identities, or a sign-up or a linking of it is under way. */
  async function hasTaken({ identities }: ImportRow, userId: string | null): Promise<boolean> {
    for (const identity of identities) {
      const known = await findIdentity(ctx, identity)
      if (known === null || known.userId === userId) continue
      if (!isBeingLinked(known) && !(await isGone(known.userId))) return true
      if (!dryRun && !(await takeAbandonedIdentity(ctx, known))) return true
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
      const mine = await addIdentity(ctx, identity, userId)
      if (mine !== null) added.push(mine)
      else if ((await findIdentity(ctx, identity))?.userId !== userId) {
        await takeBack(added)
        return null
      }
    }
    return added
  }

  async function takeBack(added: readonly OauthIdentity[]): Promise<void> {
    for (const identity of added) await takeBackIdentity(ctx, identity)
  }
  /** Replaces that of an earlier import, whose row may have had another secret. */
  async function putTotp(user: User, secret: string): Promise<void> {
    const { id, credentialEpoch, deviceEpoch } = user
    const sealed = sealTotp(ctx, id, secret)
    const isInserted = await ctx.collections.totpFactors.insert({
      id,
      expiresAt: null,
      userId: id,
      ...sealed,
      confirmed: true,
      lastStep: 0,
      removingBy: null,
      enrollmentId: null,
      createdAt: ctx.clock.now(),
      boundTo: '',
      credentialEpoch,
      deviceEpoch,
    })
    if (!isInserted) await ctx.collections.totpFactors.update(id, { lastStep: 0 }, sealed)
  }
  /**
   * Takes the identities that imports linked to an account, but for those that stay. False where it is no longer
   * unfinished: then they may be its owner's.
   */
  async function unlink(id: string, staying: readonly ImportedIdentity[]): Promise<boolean> {
    const stays = (one: ProviderAccount) => staying.some((other) => isSameAccount(one, other))
    const others = (await identitiesOf(ctx, id)).filter((one) => !stays(one))
    if (others.length === 0) return true
    const now = await ctx.collections.users.get(id)
    if (now === null || !isUnfinishedImport(now)) return false
    await takeBack(others)
    return true
  }
  /** Takes the account away with what imports gave it, unless it is no longer unfinished. A dry run leaves it. */
  async function giveUp(user: User, result: ImportResult): Promise<ImportResult> {
    if (dryRun) return result
    const { id, importState } = user
    const guard = { importState, enabled: false, deletingAt: null }
    // Before the account goes: an identity without one would open what later gets its id.
    await unlink(id, [])
    if ((await ctx.collections.users.take(id, guard)) !== null)
      await ctx.collections.totpFactors.take(id)
    return result
  }
  /** Factors and identities first; with the last write the account can be used. */
  async function complete(
    row: ImportRow,
    user: User,
    isNew: boolean,
  ): Promise<ImportResult | typeof conflict> {
    const { id, importState } = user
    // A deletion finds it disabled, and leaves the mark.
    const guard = { importState, enabled: false, deletingAt: null }
    const added = await link(row.identities, id)
    if (added === null) return giveUp(user, conflictOf('identity_taken'))
    if (row.totpSecret !== null) await putTotp(user, row.totpSecret)
    // The host's word on it counts, also where the row says otherwise.
    const enabled = row.enabled && importState !== 'disabled'
    // With the account, its password was written already.
    const password = isNew ? {} : passwordOf(row)
    const set = { importState: null, enabled, ...password }
    if ((await ctx.collections.users.update(id, guard, set)) !== null)
      return { outcome: 'created', id }
    if (await isGone(id)) {
      await takeBack(added)
      await ctx.collections.totpFactors.take(id)
    }
    return conflict
  }

  const isDeleted = async ({ id }: ImportRow) =>
    id !== null && (await ctx.collections.accountDeletions.get(id)) !== null

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
    if (!(await ctx.collections.users.insert(user))) return conflict
    if (row.id !== null && (await takeBackUsed(ctx.collections, row.id))) return gone
    if (!isWrittenAtOnce(row)) return complete(row, user, true)
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
    return (await unlink(id, row.identities)) ? complete(row, found, false) : conflict
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
  duplicate_row: 'An earlier row has the same id, address or identity.',
}

function conflictOf(code: ImportConflict): ImportResult {
  return { outcome: 'conflict', code, reason: conflictReasons[code] }
}

/** A row that is of the right form. */
export interface ImportRow {
  readonly id: string | null
  readonly email: string
  readonly emailAsTyped: string
  readonly name: string
  readonly passwordHash: string | null
  readonly passwordChangedAt: number | null
  readonly emailVerifiedAt: number | null
  readonly createdAt: number | null
  readonly lastLoginAt: number | null
  readonly enabled: boolean
  readonly systemRole: string
  readonly memberships: readonly Membership[]
  readonly identities: readonly ImportedIdentity[]
  readonly totpSecret: string | null
}

export interface RefusedRow {
  readonly outcome: 'refused'
  readonly code: ImportRefusal
  readonly reason: string
}

const members = new Set<string>([
  'id',
  'email',
  'name',
  'passwordHash',
  'passwordChangedAt',
  'emailVerified',
  'emailVerifiedAt',
  'createdAt',
  'lastLoginAt',
  'enabled',
  'systemRole',
  'memberships',
  'identities',
  'totpSecret',
] satisfies (keyof ImportRow | 'emailVerified')[])

const dates = ['passwordChangedAt', 'emailVerifiedAt', 'createdAt', 'lastLoginAt'] as const

/** Reads one row, whatever it is. Only what the object itself has counts. Never throws but by a getter. */
export async function readImportRow(
  given: unknown,
  now: number,
  allowRoles: readonly string[],
  providers: KnownProviders = knownProviders([]),
): Promise<ImportRow | RefusedRow> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return invalid('A row must be an object.')
  }
  // A member that is null is left out, as an export has it.
  const own = new Map(
    Object.entries(nameAsSingleLine(given)).filter(([, value]) => (value ?? null) !== null),
  )
  if (Object.hasOwn(given, 'kind')) {
    return refusal('kind_not_allowed', 'A row must not have a kind: people alone are imported.')
  }
  const unknown = Object.keys(given).find((key) => !members.has(key))
  if (unknown !== undefined) return invalid('A row must have no members but those of ImportedUser.')
  const typed = own.get('email')
  const email = typeof typed === 'string' ? await readEmail(typed) : null
  if (email === null) return invalid('email must be an address, such as ada@example.org.')
  const problem = problemOf(own, now)
  if (problem !== null) return problem
  const row = rowOf(own, email, now)
  if (row.identities.every((one) => isOfProvider(one, providers)))
    return checkRules(row, allowRoles)
  return invalid('identities must be of providers of this host; a declared one has one issuer.')
}

type Own = ReadonlyMap<string, unknown>

function problemOf(own: Own, now: number): RefusedRow | null {
  const id = own.get('id')
  if (id !== undefined && !(typeof id === 'string' && isUuid(id))) {
    return invalid('id must be a UUID in lower case.')
  }
  const problem = userProblem({
    name: own.get('name'),
    enabled: own.get('enabled'),
    emailVerified: own.get('emailVerified'),
    systemRole: own.get('systemRole'),
    memberships: own.get('memberships'),
  })
  if (problem !== null) return invalid(problem)
  const date = dates.find((name) => own.has(name) && !isPast(timeOf(own, name), now))
  if (date !== undefined) {
    return invalid(`${date} must be epoch milliseconds or a Date, from 1971 until now.`)
  }
  if (own.get('emailVerified') === false && own.has('emailVerifiedAt')) {
    return invalid('emailVerified must not be false beside emailVerifiedAt.')
  }
  return secretsProblem(own)
}

function secretsProblem(own: Own): RefusedRow | null {
  const hash = own.get('passwordHash')
  if (hash !== undefined && !(isStorable(hash) && hash.length <= 1024)) {
    return invalid('passwordHash must be a text of at most 1,024 characters.')
  }
  const totp = own.get('totpSecret')
  if (totp !== undefined && !(typeof totp === 'string' && /^[A-Z2-7]{26,103}$/.test(totp))) {
    return invalid('totpSecret must be 16 to 64 bytes in base32, without padding.')
  }
  const identities = own.get('identities')
  if (identities === undefined || areIdentities(identities)) return null
  return invalid('identities must be { provider, issuer, subject }, one of each provider at most.')
}

function areIdentities(given: unknown): given is readonly ImportedIdentity[] {
  if (!Array.isArray(given) || !given.every(isIdentity)) return false
  return new Set(given.map(({ provider }) => provider)).size === given.length
}

function isIdentity(given: unknown): given is ImportedIdentity {
  if (typeof given !== 'object' || given === null || Object.keys(given).length !== 3) return false
  const own = new Map<string, unknown>(Object.entries(given))
  const isText = (value: unknown) => isStorable(value) && value.length >= 1 && value.length <= 255
  const provider = own.get('provider')
  return isText(provider) && isText(own.get('issuer')) && isText(own.get('subject'))
}

function isOfProvider({ provider, issuer }: ImportedIdentity, providers: KnownProviders): boolean {
  const declared = providers.declared(provider)
  return declared === null ? providers.find(provider) !== null : declared.issuer === issuer
}

function rowOf(own: Own, email: string, now: number): ImportRow {
  const text = (name: string): string | null => {
    const value = own.get(name)
    return typeof value === 'string' ? value : null
  }
  const typed = text('email') ?? ''
  const memberships: unknown = own.get('memberships')
  const identities: unknown = own.get('identities')
  const verifiedAt = timeOf(own, 'emailVerifiedAt')
  return {
    id: text('id'),
    email,
    emailAsTyped: typed.trim(),
    name: text('name') ?? '',
    passwordHash: bareHash(text('passwordHash')),
    passwordChangedAt: timeOf(own, 'passwordChangedAt'),
    emailVerifiedAt: verifiedAt ?? (own.get('emailVerified') === true ? now : null),
    createdAt: timeOf(own, 'createdAt'),
    lastLoginAt: timeOf(own, 'lastLoginAt'),
    enabled: own.get('enabled') !== false,
    systemRole: text('systemRole') ?? 'guest',
    memberships: Array.isArray(memberships)
      ? memberships.map(({ tenantId }: Membership) => ({ tenantId }))
      : [],
    identities: areIdentities(identities)
      ? identities.map(({ provider, issuer, subject }) => ({ provider, issuer, subject }))
      : [],
    totpSecret: text('totpSecret'),
  }
}

/** What is refused of a row that is of the right form. */
function checkRules(row: ImportRow, allowRoles: readonly string[]): ImportRow | RefusedRow {
  const { emailVerifiedAt, identities, totpSecret, systemRole } = row
  if (emailVerifiedAt === null && (identities.length > 0 || totpSecret !== null)) {
    const reason = 'A factor or an identity needs a verified address: a stranger may have added it.'
    return refusal('email_not_verified', reason)
  }
  if (systemRole !== 'guest' && !allowRoles.includes(systemRole)) {
    return refusal('role_not_allowed', 'systemRole must be one of allowRoles.')
  }
  return row
}

/** Null without one, and NaN for what is no time. */
function timeOf(own: Own, name: string): number | null {
  const value = own.get(name)
  if (value === undefined) return null
  if (value instanceof Date) return value.getTime()
  return typeof value === 'number' ? value : Number.NaN
}

/** The start of 1971. Below lie the zero that stands for "never", and seconds taken for milliseconds. */
const earliest = 31_536_000_000

function isPast(time: number | null, now: number): boolean {
  return time !== null && Number.isSafeInteger(time) && time >= earliest && time <= now
}

function invalid(reason: string): RefusedRow {
  return refusal('invalid_row', reason)
}

function refusal(code: ImportRefusal, reason: string): RefusedRow {
  return { outcome: 'refused', code, reason }
}

/** An account at an identity provider. */
export interface ImportedIdentity {
  /** One of the four, or the id of one that the host declares. */
  readonly provider: string
  /** As its ID tokens have it, such as `https://accounts.google.com`. */
  readonly issuer: string
  /** The user's id at the provider (`sub`). */
  readonly subject: string
}

/** A user of another product. Times are epoch milliseconds or a `Date`, and not in the future. */
export interface ImportedUser {
  /** A UUID in lower case, which the account then has. Default: a new one. */
  readonly id?: string | null
  readonly email: string
  /** Default empty. */
  readonly name?: string | null
  /**
   * An argon2 hash, or one of a format in `legacyHashes` or `legacyVerifiers`. What Django and Spring write around it is
   * taken off; `!…`, `*` and `NULL` are no password. Default: no password.
   */
  readonly passwordHash?: string | null
  /** Default: the time of the import. */
  readonly passwordChangedAt?: number | Date | null
  /** True: verified at `emailVerifiedAt`, or now. Default: whether there is such a time. */
  readonly emailVerified?: boolean
  readonly emailVerifiedAt?: number | Date | null
  /** Default: the time of the import. */
  readonly createdAt?: number | Date | null
  readonly lastLoginAt?: number | Date | null
  /** Default true. */
  readonly enabled?: boolean
  /** Needs `allowRoles`, but for `guest`, which is the default. */
  readonly systemRole?: string
  readonly memberships?: readonly Membership[]
  /** One of each provider at most. Needs a verified address. */
  readonly identities?: readonly ImportedIdentity[]
  /**
   * The secret of an authenticator app (SHA-1, six digits, 30 seconds), 16 to 64 bytes in base32. Needs a verified
   * address.
   */
  readonly totpSecret?: string | null
}

/** The users to import. */
export interface ImportBatch {
  /** At most 10,000. */
  readonly users: readonly ImportedUser[]
  /** The roles that rows may have in `systemRole`. Default none. */
  readonly allowRoles?: readonly string[]
  /** With `true` the rows are judged by the same rules, and nothing is written or reported as event. Default false. */
  readonly dryRun?: boolean
  /**
   * One set for all calls of an import, each awaited before the next. What a call that resolves saw is added, so that a
   * later row that repeats it is `duplicate_row`, also in a dry run. Default: of this call alone.
   */
  readonly seen?: Set<string>
}

/** Why a row made no account. */
export type ImportRefusal =
  /** Not an object, or a member that is unknown or of another form. */
  | 'invalid_row'
  | 'kind_not_allowed'
  | 'email_not_allowed'
  /** A factor or an identity without a verified address. */
  | 'email_not_verified'
  | 'hash_not_supported'
  | 'hash_too_costly'
  | 'role_not_allowed'
  /** An account had this id. */
  | 'id_deleted'

/** What a row would have to share with another account, or with an earlier row. */
export type ImportConflict = 'id_taken' | 'email_taken' | 'identity_taken' | 'duplicate_row'

/** What became of a row. `reason` is a sentence for the log, and repeats no value of the row. */
export type ImportResult =
  | { readonly outcome: 'created'; readonly id: string }
  /** In a dry run: an import would create it, or complete one that was cut off. */
  | { readonly outcome: 'creatable' }
  /**
   * The account is there already; nothing of it was changed. `emailDiffers`: it was found by the row's id, and has
   * another address. Either its user changed the address, or the id stands for another person at this source.
   */
  | { readonly outcome: 'skipped'; readonly id: string; readonly emailDiffers: boolean }
  | { readonly outcome: 'conflict'; readonly code: ImportConflict; readonly reason: string }
  | { readonly outcome: 'refused'; readonly code: ImportRefusal; readonly reason: string }

/** What became of a batch. */
export interface ImportReport {
  /** In a dry run: the rows that are `creatable`. */
  readonly created: number
  readonly skipped: number
  readonly conflicts: number
  readonly refused: number
  /** One for each row, in the order of the rows. */
  readonly results: readonly ImportResult[]
}
