import { isUuid, uuidv7 } from '../../crypto/secrets.js'
import { userProblem } from '../../engine/accounts.js'
import { AuthError, describeError } from '../../errors/index.js'
import { newUser, type ServiceCredential, type User } from '../../model/user.js'
import { fullPage } from '../../stores/pages.js'
import { emitUserCreateFailed } from '../accounts/user-export.js'
import { createUsers } from '../accounts/users.js'
import { type Act, type Actor, actBy } from '../context/actor.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import { takeBackUsed } from '../surface/ways-in.js'
import {
  credentialsOf,
  discardCredential,
  draftCredential,
  type IssuedCredential,
  issueCredential,
  revokeCredentialOf,
  SecretText,
  storeCredential,
} from './service-credentials.js'

// Every method takes a person's id, and any other text, for no account at all.

/** An operator user of kind `service`, with its credentials, the newest first. */
export interface ServiceAccount {
  readonly user: Pick<
    User,
    'id' | 'name' | 'email' | 'systemRole' | 'enabled' | 'createdAt' | 'updatedAt'
  >
  readonly credentials: readonly ServiceCredential[]
}

export interface NewServiceAccount {
  readonly account: ServiceAccount
  readonly issued: IssuedCredential
}

export interface ServiceAccountPage {
  readonly accounts: readonly ServiceAccount[]
  /** The cursor of the next page; null when this is the last. */
  readonly next: string | null
}

async function find(ctx: SurfaceContext, id: string): Promise<User | null> {
  const user = isUuid(id) ? await ctx.collections.users.get(id) : null
  return user?.kind === 'service' ? user : null
}

/** What a write is about: it is a machine, and stays one. Throws `service_account_not_found`. */
export async function locateServiceAccount(ctx: SurfaceContext, id: string): Promise<User> {
  const user = await find(ctx, id)
  if (user === null) throw new AuthError('service_account_not_found')
  return user
}

async function withCredentials(
  ctx: SurfaceContext,
  user: ServiceAccount['user'],
): Promise<ServiceAccount> {
  return { user, credentials: await credentialsOf(ctx, user.id) }
}

function newAccount(ctx: SurfaceContext, name: string, given: string | null): User {
  const now = ctx.clock.now()
  const id = given ?? uuidv7(now, ctx.random)
  const email = `${id}@service-accounts.invalid`
  return newUser(now, { id, kind: 'service', email, emailAsTyped: email, name, enabled: false })
}

/** Throws where another caller with the id disabled or deleted the account meanwhile. */
async function enable(ctx: SurfaceContext, { id, credentialEpoch }: User): Promise<User> {
  try {
    const enabled = await ctx.collections.users.update(id, { credentialEpoch }, { enabled: true })
    if (enabled !== null) return enabled
  } catch (error) {
    ctx.logger.warn('enabling a new account had no answer', describeError(error))
  }
  const stored = await find(ctx, id)
  if (stored?.enabled !== true) throw new AuthError('service_unavailable')
  return stored
}

/** Disables an account whose secret was never shown. Never throws. */
async function close(
  ctx: SurfaceContext,
  { id }: User,
  { credential }: IssuedCredential,
): Promise<void> {
  await discardCredential(ctx, credential)
  try {
    await ctx.collections.users.update(id, { enabled: true }, { enabled: false })
  } catch (error) {
    ctx.logger.error('an account that was not finished was left', describeError(error))
  }
}

/** False where a machine has the id. The account is read before the note: a deletion writes that first. */
async function isFree(ctx: SurfaceContext, id: string): Promise<boolean> {
  if (!isUuid(id)) throw invalid('id must be a UUID in lower case.')
  const user = await ctx.collections.users.get(id)
  if (user?.kind === 'service') return false
  if (user !== null) throw invalid('id must not be that of a person.')
  if ((await ctx.collections.accountDeletions.get(id)) === null) return true
  throw deletedBefore()
}

/** Ids are never used again: another call may have made the account and deleted it meanwhile. */
async function requireNeverDeleted(ctx: SurfaceContext, { id }: User): Promise<void> {
  if (await takeBackUsed(ctx.collections, id)) throw deletedBefore()
}

/** Null where the given id was taken meanwhile. */
async function make(
  ctx: SurfaceContext,
  name: string,
  given: string | null,
  act: Act,
): Promise<NewServiceAccount | null> {
  const user = newAccount(ctx, name, given)
  // Before anything is written: a busy server leaves nothing behind.
  const issued = await draftCredential(ctx, user.id, act)
  // The secret was hashed in a queue that may be long.
  await act.askAgain?.()
  if (!(await ctx.collections.users.insert(user))) return null
  if (given !== null) await requireNeverDeleted(ctx, user)
  await storeCredential(ctx, issued.credential)
  try {
    const account = { user: await enable(ctx, user), credentials: [issued.credential] }
    return { account, issued }
  } catch (error) {
    await close(ctx, user, issued)
    throw error
  }
}

/** Events of what was made, and of what failed. */
async function told<T extends NewServiceAccount | null>(
  ctx: SurfaceContext,
  act: Act,
  create: () => Promise<T>,
): Promise<T> {
  const made = await create().catch((error: unknown) => {
    emitUserCreateFailed(ctx, act, error)
    throw error
  })
  if (made === null) return made
  const { account, issued } = made
  ctx.emit('account.created', act.source, { actorId: act.actorId, targetId: account.user.id })
  ctx.emit('serviceCredential.issued', act.source, {
    actorId: act.actorId,
    targetId: account.user.id,
    credentialId: issued.credential.id,
  })
  return made
}

/** Oldest first. Throws `invalid_request` for an invalid cursor. */
export async function listServiceAccounts(
  ctx: SurfaceContext,
  limit: number,
  cursor: string | null,
): Promise<ServiceAccountPage> {
  if (cursor !== null && !isUuid(cursor)) throw new AuthError('invalid_request')
  const after = cursor === null ? {} : { after: cursor }
  // One more than asked for shows whether there is a next page.
  const page = { limit: limit + 1, ...after }
  const found = await fullPage(ctx.collections.users, { kind: 'service' }, page)
  const shown = found.slice(0, limit)
  return {
    accounts: await Promise.all(shown.map((account) => withCredentials(ctx, account))),
    next: found.length > limit ? (shown.at(-1)?.id ?? null) : null,
  }
}

/** Throws `service_account_not_found`. */
export async function getServiceAccount(ctx: SurfaceContext, id: string): Promise<ServiceAccount> {
  return withCredentials(ctx, await locateServiceAccount(ctx, id))
}

/**
 * Enabled as the last of three writes: should one fail, what is left is a disabled account.
 */
export function createServiceAccount(
  ctx: SurfaceContext,
  name: string,
  act: Act,
): Promise<NewServiceAccount> {
  return told(ctx, act, async () => {
    const made = await make(ctx, name, null, act)
    if (made === null) throw new AuthError('service_unavailable')
    return made
  })
}

/**
 * The same with an id of the caller's choosing; null where a service account has it already. If two
 * calls come at once, one makes it. Throws `invalid_request` for an id that a person has, or an account had that was
 * deleted.
 */
function createServiceAccountOnce(
  ctx: SurfaceContext,
  id: string,
  name: string,
  act: Act,
): Promise<NewServiceAccount | null> {
  return told(ctx, act, async () => {
    if (!(await isFree(ctx, id))) return null
    const made = await make(ctx, name, id, act)
    // Another call may have taken the id; a person cannot have.
    if (made === null && (await isFree(ctx, id))) throw new AuthError('service_unavailable')
    return made
  })
}

/** Disabling stops grants and permissions at once. Throws `service_account_not_found`. */
export async function updateServiceAccount(
  ctx: SurfaceContext,
  { id }: Pick<User, 'id'>,
  changes: { readonly name?: string; readonly enabled?: boolean },
  act: Act,
): Promise<ServiceAccount> {
  const user = await createUsers(ctx).update(id, changes, actedBy(act))
  if (user === null) throw new AuthError('service_account_not_found')
  return withCredentials(ctx, user)
}

/** Throws `credential_not_found`, also where there is no such account. */
export async function revokeCredential(
  ctx: SurfaceContext,
  id: string,
  credentialId: string,
  act: Act,
): Promise<void> {
  if ((await find(ctx, id)) === null) throw new AuthError('credential_not_found')
  await revokeCredentialOf(ctx, id, credentialId, act)
}

const deletedBefore = () => invalid('id must not be that of an account that was deleted.')

function invalid(problem: string): AuthError {
  return new AuthError('invalid_request', { detail: `A service account's ${problem}` })
}

function actedBy({ actorId, source: { ip, userAgent } }: Act): Actor {
  return {
    ...(actorId === null ? {} : { actorId }),
    ...(ip === null ? {} : { ip }),
    ...(userAgent === null ? {} : { userAgent }),
  }
}

/** A service account to create. */
export interface NewServiceAccountInput {
  /** A single line of 1 to 100 characters. */
  readonly name: string
  /** A UUID in lower case, so that the call can be repeated. Default: a new one. */
  readonly id?: string
}

/** The changes of a service account; absent members stay. */
export interface ServiceAccountChanges {
  readonly name?: string
  /** False stops grants and permissions at once. */
  readonly enabled?: boolean
}

/** A credential with its secret, which is not kept: this is the one time it is known. */
export interface IssuedServiceCredential {
  readonly credentialId: string
  readonly clientId: string
  readonly clientSecret: SecretText
}

/** Whether this call made the account, and with it a first credential. */
export type CreatedServiceAccount =
  | {
      readonly created: true
      readonly account: ServiceAccountRecord
      readonly credential: IssuedServiceCredential
    }
  | { readonly created: false; readonly account: ServiceAccountRecord }

/** A page of service accounts. */
export interface ServiceAccountList {
  /** Oldest first. */
  readonly accounts: readonly ServiceAccountRecord[]
  /** The `after` of the next page; null on the last page. */
  readonly next: string | null
}

/** The page of service accounts to read. */
export interface ServiceAccountListRequest {
  /** 1 to 200. Default 50. */
  readonly limit?: number
  /** The `next` of the previous page. Default: the first page. */
  readonly after?: string
}

/**
 * The service accounts, for the host's code: no permission and no second factor is asked for. `by` names
 * the actor for events and audit records; without an `actorId` that is `host`. Methods throw `AuthError`
 * with the codes named here, `invalid_request` for input of another form, and `service_unavailable` when
 * the store fails.
 */
export interface ServiceAccountAdministration {
  /**
   * Creates an account with its first credential. Where a service account has the id already,
   * `created` is false, and nothing is changed and no secret given. If two calls come at once with one id, one
   * creates it. A call that was cut off may leave a disabled account; then enable it and issue a
   * credential. Throws `invalid_request` for the id of a person or of a deleted account, and `server_busy`.
   */
  create(account: NewServiceAccountInput, by?: Actor): Promise<CreatedServiceAccount>
  list(page?: ServiceAccountListRequest): Promise<ServiceAccountList>
  /**
   * Issues another credential, and revokes none. Throws `service_account_not_found`,
   * `credential_limit_reached` where two are active, and `server_busy`.
   */
  issueCredential(id: string, by?: Actor): Promise<IssuedServiceCredential>
  /** Refused from the next grant on. Throws `credential_not_found`, also for one that is revoked. */
  revokeCredential(id: string, credentialId: string, by?: Actor): Promise<void>
  /** Throws `service_account_not_found`. */
  update(id: string, changes: ServiceAccountChanges, by?: Actor): Promise<ServiceAccountRecord>
}

const maxName = 100
const pageSize = 50
const maxPageSize = 200

export function createServiceAccountAdministration(
  ctx: SurfaceContext,
): ServiceAccountAdministration {
  return {
    async create(input, by) {
      const { name, id } = inputOf(input)
      const act = hostAct(by)
      const made =
        id === undefined
          ? await createServiceAccount(ctx, name, act)
          : await createServiceAccountOnce(ctx, id, name, act)
      if (made === null) {
        return { created: false, account: accountRecordOf(await getServiceAccount(ctx, id ?? '')) }
      }
      const account = accountRecordOf(made.account)
      return { created: true, account, credential: issuedOf(made.issued) }
    },

    async list(page = {}) {
      const { limit, after } = pageOf(page)
      const { accounts: found, next } = await listServiceAccounts(ctx, limit, after)
      return { accounts: found.map(accountRecordOf), next }
    },

    async issueCredential(id, by) {
      const act = hostAct(by)
      const account = await locateServiceAccount(ctx, textOf('id', id))
      return issuedOf(await issueCredential(ctx, account.id, act))
    },

    async revokeCredential(id, credentialId, by) {
      const [account, credential] = [textOf('id', id), textOf('credentialId', credentialId)]
      await revokeCredential(ctx, account, credential, hostAct(by))
    },

    async update(id, changes, by) {
      const known = changesOf(changes)
      const account = await locateServiceAccount(ctx, textOf('id', id))
      return accountRecordOf(await updateServiceAccount(ctx, account, known, hostAct(by)))
    },
  }
}

function hostAct(by: Actor = {}): Act {
  const { actorId, source } = actBy(by)
  return { actorId: actorId ?? 'host', source }
}

function issuedOf({ credential, clientSecret }: IssuedCredential): IssuedServiceCredential {
  const { id: credentialId, clientId } = credential
  return { credentialId, clientId, clientSecret: new SecretText(clientSecret) }
}

function inputOf({ name, id, ...rest }: NewServiceAccountInput): NewServiceAccountInput {
  if (Object.keys(rest).length > 0) throw invalidRequest('members are name and id, and no others.')
  requireName(name)
  return { name, ...(id === undefined ? {} : { id: textOf('id', id) }) }
}

function changesOf({ name, enabled, ...rest }: ServiceAccountChanges): ServiceAccountChanges {
  if (Object.keys(rest).length > 0)
    throw invalidRequest('changes are name and enabled, and no others.')
  if (name === undefined && enabled === undefined)
    throw invalidRequest('changes must name something.')
  const problem = userProblem({ enabled })
  if (problem !== null) throw invalidRequest(problem)
  if (name !== undefined) requireName(name)
  return {
    ...(name === undefined ? {} : { name }),
    ...(enabled === undefined ? {} : { enabled }),
  }
}

function requireName(name: unknown): void {
  const problem = userProblem({ name })
  const fits = typeof name === 'string' && name.length >= 1 && name.length <= maxName
  if (problem !== null || !fits) {
    throw invalidRequest(problem ?? `name must be a text of 1 to ${maxName} characters.`)
  }
}

function pageOf({ limit = pageSize, after, ...rest }: ServiceAccountListRequest) {
  const isPage = Number.isInteger(limit) && limit >= 1 && limit <= maxPageSize
  if (Object.keys(rest).length > 0 || !isPage) {
    throw invalidRequest(`page is { limit, after }, with a limit from 1 to ${maxPageSize}.`)
  }
  return { limit, after: after === undefined ? null : textOf('after', after) }
}

/** Some databases take an object for a query. */
function textOf(member: string, value: unknown): string {
  if (typeof value !== 'string') throw invalidRequest(`${member} must be a text.`)
  return value
}

function invalidRequest(problem: string): AuthError {
  return new AuthError('invalid_request', { detail: `A service account's ${problem}` })
}

/** A credential of a service account, without its secret. */
export interface ServiceCredentialRecord {
  readonly id: string
  readonly clientId: string
  readonly status: 'active' | 'revoked'
  /** Epoch milliseconds, as the other times. */
  readonly createdAt: number
  /** The actor; null when none was named. */
  readonly createdBy: string | null
  /** Within a minute; null before the first use. */
  readonly lastUsedAt: number | null
  readonly revokedAt: number | null
  readonly revokedBy: string | null
}

/** A service account as the host's code sees it. */
export interface ServiceAccountRecord {
  readonly id: string
  readonly name: string
  readonly enabled: boolean
  /** Epoch milliseconds. */
  readonly createdAt: number
  readonly updatedAt: number
  /** The newest first, revoked ones too. */
  readonly credentials: readonly ServiceCredentialRecord[]
}

function accountRecordOf({ user, credentials }: ServiceAccount): ServiceAccountRecord {
  const { id, name, enabled, createdAt, updatedAt } = user
  return { id, name, enabled, createdAt, updatedAt, credentials: credentials.map(recordOf) }
}

function recordOf(credential: ServiceCredential): ServiceCredentialRecord {
  const { id, clientId, status, createdAt, createdBy, lastUsedAt, revokedAt, revokedBy } =
    credential
  return { id, clientId, status, createdAt, createdBy, lastUsedAt, revokedAt, revokedBy }
}
