import { isUuid, uuidv7 } from '../../crypto/secrets.js'
import { AuthError, describeError } from '../../errors/index.js'
import { newUser, type ServiceCredential, type User } from '../../model/user.js'
import { createAccountEvents } from '../accounts/account-events.js'
import type { Users } from '../accounts/users.js'
import type { Act, Actor } from '../context/actor.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { takeBackUsed } from '../context/take-back-used.js'
import type { IssuedCredential, ServiceCredentials } from './service-credentials.js'

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

export type LocatedAccount = Pick<User, 'id'>

/** Every method takes a person's id, and any other text, for no account at all. */
export interface ServiceAccounts {
  /** What a write is about: it is a machine, and stays one. Throws `service_account_not_found`. */
  locate(id: string): Promise<LocatedAccount>
  /** Oldest first. Throws `invalid_request` for an invalid cursor. */
  list(limit: number, cursor: string | null): Promise<ServiceAccountPage>
  /** Throws `service_account_not_found`. */
  get(id: string): Promise<ServiceAccount>
  /**
   * Enabled as the last of three writes: should one fail, what is left is a disabled account.
   */
  create(name: string, act: Act): Promise<NewServiceAccount>
  /**
   * The same with an id of the caller's choosing; null where a service account has it already. If two
   * calls come at once, one makes it. Throws `invalid_request` for an id that a person has, or an account had that was
   * deleted.
   */
  createOnce(id: string, name: string, act: Act): Promise<NewServiceAccount | null>
  /** Disabling stops grants and permissions at once. Throws `service_account_not_found`. */
  update(
    account: LocatedAccount,
    changes: { readonly name?: string; readonly enabled?: boolean },
    act: Act,
  ): Promise<ServiceAccount>
  /** Throws `credential_limit_reached`. */
  issueCredential(account: LocatedAccount, act: Act): Promise<IssuedCredential>
  /** Throws `credential_not_found`, also where there is no such account. */
  revokeCredential(id: string, credentialId: string, act: Act): Promise<void>
}

type Deps = Pick<SurfaceContext, 'collections' | 'clock' | 'random' | 'emit' | 'logger'>

export function createServiceAccounts(
  deps: Deps,
  accounts: Users,
  credentials: ServiceCredentials,
): ServiceAccounts {
  const { clock } = deps
  const { users, accountDeletions } = deps.collections
  const events = createAccountEvents(deps)

  async function find(id: string): Promise<User | null> {
    const user = isUuid(id) ? await users.get(id) : null
    return user?.kind === 'service' ? user : null
  }

  async function known(id: string): Promise<User> {
    const user = await find(id)
    if (user === null) throw new AuthError('service_account_not_found')
    return user
  }

  async function withCredentials(user: ServiceAccount['user']): Promise<ServiceAccount> {
    return { user, credentials: await credentials.of(user.id) }
  }

  function newAccount(name: string, given: string | null): User {
    const now = clock.now()
    const id = given ?? uuidv7(now, deps.random)
    const email = `${id}@service-accounts.invalid`
    return newUser(now, { id, kind: 'service', email, emailAsTyped: email, name, enabled: false })
  }

  /** Throws where another caller with the id disabled or deleted the account meanwhile. */
  async function enable({ id, credentialEpoch }: User): Promise<User> {
    try {
      const enabled = await users.update(id, { credentialEpoch }, { enabled: true })
      if (enabled !== null) return enabled
    } catch (error) {
      deps.logger.warn('enabling a new account had no answer', describeError(error))
    }
    const stored = await find(id)
    if (stored?.enabled !== true) throw new AuthError('service_unavailable')
    return stored
  }

  /** Disables an account whose secret was never shown. Never throws. */
  async function close({ id }: User, { credential }: IssuedCredential): Promise<void> {
    await credentials.discard(credential)
    try {
      await users.update(id, { enabled: true }, { enabled: false })
    } catch (error) {
      deps.logger.error('an account that was not finished was left', describeError(error))
    }
  }

  /** False where a machine has the id. The account is read before the note: a deletion writes that first. */
  async function isFree(id: string): Promise<boolean> {
    if (!isUuid(id)) throw invalid('id must be a UUID in lower case.')
    const user = await users.get(id)
    if (user?.kind === 'service') return false
    if (user !== null) throw invalid('id must not be that of a person.')
    if ((await accountDeletions.get(id)) === null) return true
    throw deletedBefore()
  }

  /** Ids are never used again: another call may have made the account and deleted it meanwhile. */
  async function requireNeverDeleted({ id }: User): Promise<void> {
    if (await takeBackUsed(deps.collections, id)) throw deletedBefore()
  }

  /** Null where the given id was taken meanwhile. */
  async function make(
    name: string,
    given: string | null,
    act: Act,
  ): Promise<NewServiceAccount | null> {
    const user = newAccount(name, given)
    // Before anything is written: a busy server leaves nothing behind.
    const issued = await credentials.draft(user.id, act)
    // The secret was hashed in a queue that may be long.
    await act.askAgain?.()
    if (!(await users.insert(user))) return null
    if (given !== null) await requireNeverDeleted(user)
    await credentials.store(issued.credential)
    try {
      const account = { user: await enable(user), credentials: [issued.credential] }
      return { account, issued }
    } catch (error) {
      await close(user, issued)
      throw error
    }
  }

  /** Events of what was made, and of what failed. */
  async function told<T extends NewServiceAccount | null>(
    act: Act,
    create: () => Promise<T>,
  ): Promise<T> {
    const made = await create().catch((error: unknown) => {
      events.createFailed(act, error)
      throw error
    })
    if (made === null) return made
    const { account, issued } = made
    events.created(act, account.user.id)
    deps.emit('serviceCredential.issued', act.source, {
      actorId: act.actorId,
      targetId: account.user.id,
      credentialId: issued.credential.id,
    })
    return made
  }

  return {
    locate: known,

    async list(limit, cursor) {
      if (cursor !== null && !isUuid(cursor)) throw new AuthError('invalid_request')
      const after = cursor === null ? {} : { after: cursor }
      // One more than asked for shows whether there is a next page.
      const found = await users.find({ kind: 'service' }, { limit: limit + 1, ...after })
      const shown = found.slice(0, limit)
      return {
        accounts: await Promise.all(shown.map(withCredentials)),
        next: found.length > limit ? (shown.at(-1)?.id ?? null) : null,
      }
    },

    get: async (id) => withCredentials(await known(id)),

    create: (name, act) =>
      told(act, async () => {
        const made = await make(name, null, act)
        if (made === null) throw new AuthError('service_unavailable')
        return made
      }),

    createOnce: (id, name, act) =>
      told(act, async () => {
        if (!(await isFree(id))) return null
        const made = await make(name, id, act)
        // Another call may have taken the id; a person cannot have.
        if (made === null && (await isFree(id))) throw new AuthError('service_unavailable')
        return made
      }),

    async update({ id }, changes, act) {
      const user = await accounts.update(id, changes, actedBy(act))
      if (user === null) throw new AuthError('service_account_not_found')
      return withCredentials(user)
    },

    issueCredential: ({ id }, act) => credentials.issue(id, act),

    async revokeCredential(id, credentialId, act) {
      if ((await find(id)) === null) throw new AuthError('credential_not_found')
      await credentials.revoke(id, credentialId, act)
    },
  }
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
