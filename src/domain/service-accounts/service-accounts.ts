import { isUuid, uuidv7 } from '../../crypto/uuid.js'
import { AuthError, describeError } from '../../errors/index.js'
import { newUser } from '../../model/new-user.js'
import type { ServiceCredential } from '../../model/service-credential.js'
import type { User } from '../../model/user.js'
import { createAccountEvents } from '../accounts/account-events.js'
import type { Users } from '../accounts/users.js'
import type { Act, Actor } from '../context/actor.js'
import type { SurfaceContext } from '../context/surface-context.js'
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
  const { users } = deps.collections
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

  function newAccount(name: string): User {
    const now = clock.now()
    const id = uuidv7(now, deps.random)
    const email = `${id}@service-accounts.invalid`
    return newUser(now, { id, kind: 'service', email, emailAsTyped: email, name, enabled: false })
  }

  /** No other caller knows the account yet: only this one can have enabled it. */
  async function enable({ id }: User): Promise<User> {
    try {
      const enabled = await users.update(id, { enabled: false }, { enabled: true })
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

  async function make(name: string, act: Act): Promise<NewServiceAccount> {
    const user = newAccount(name)
    // Before anything is written: a busy server leaves nothing behind.
    const issued = await credentials.draft(user.id, act)
    if (!(await users.insert(user))) throw new AuthError('service_unavailable')
    await credentials.store(issued.credential)
    try {
      const account = { user: await enable(user), credentials: [issued.credential] }
      return { account, issued }
    } catch (error) {
      await close(user, issued)
      throw error
    }
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

    async create(name, act) {
      const made = await make(name, act).catch((error: unknown) => {
        events.createFailed(act, error)
        throw error
      })
      const { account, issued } = made
      events.created(act, account.user.id)
      deps.emit('serviceCredential.issued', act.source, {
        actorId: act.actorId,
        targetId: account.user.id,
        credentialId: issued.credential.id,
      })
      return made
    },

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

function actedBy({ actorId, source: { ip, userAgent } }: Act): Actor {
  return {
    ...(actorId === null ? {} : { actorId }),
    ...(ip === null ? {} : { ip }),
    ...(userAgent === null ? {} : { userAgent }),
  }
}
