import { isUuid, uuidv7 } from '../../crypto/secrets.js'
import {
  entryRefusal,
  entryRules,
  isPeopleOnlyRole,
  isTenantId,
  isUnfinishedImport,
  membershipsAfter,
  sparesNone,
} from '../../engine/accounts.js'
import { isStorable } from '../../engine/text.js'
import { AuthError, DeletionRefusedError } from '../../errors/index.js'
import { isHuman, type Membership, newUser, soleTenantOf, type User } from '../../model/user.js'
import type { AccountField } from '../../ports/events.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import { type Act, type Actor, actBy } from '../context/actor.js'
import { readEmail } from '../context/email-address.js'
import { passkeysOfUser } from '../context/enrolled-factors.js'
import { factorChanged, raiseDeviceEpoch, retireProofs } from '../factors/factor-changes.js'
import type { MailedLink } from '../mail/mail-service.js'
import { identitiesOf } from '../oauth/oauth-links.js'
import { clearGuesses } from '../passwords/guess-budgets.js'
import { hostLine } from '../passwords/password-check.js'
import { checkNewPassword, resetLinkFor } from '../passwords/password-writer.js'
import { endAllSessions, raiseSessionEpoch } from '../sessions/session-endings.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import { waysIn } from '../surface/ways-in.js'
import { deleteAccount } from './account-deletions.js'
import { requestEmailChangeOf } from './profile.js'
import {
  checkRoles,
  emitUserCreateFailed,
  emitUserFailed,
  emitUserUpdated,
  exportUser,
  invalidUser,
  type NewUser,
  onlyKnown,
  onlyMembers,
  recordOf,
  type UserChanges,
  type UserExport,
  type UserRecord,
} from './user-export.js'
import { type ImportBatch, type ImportReport, importUsers } from './user-import.js'
import { listUsers, type UserPage, type UserPageRequest } from './user-list.js'

/**
 * The users of one surface, for the host's code: no permission is checked, and only `resetMfa` and
 * `changeEmail` send mails. `by` names the actor for events and audit records. Methods throw `AuthError` with the codes
 * named here, and `service_unavailable` when the store fails.
 */
export interface Users {
  /**
   * Creates a person's account. Throws `invalid_request`, `email_not_allowed`, `email_taken` or
   * `password_policy`.
   */
  create(user: NewUser, by?: Actor): Promise<UserRecord>
  /**
   * Creates the accounts of another product's users, with their password hashes, dates and identities, and
   * says of each row what became of it: a row that cannot be an account holds up no other. Nothing that is
   * there is changed, and no mail is sent. Two imports at once create each account once. Throws
   * `invalid_request` for a batch of another form; after `service_unavailable` repeat the batch, which
   * completes it.
   */
  import(batch: ImportBatch, by?: Actor): Promise<ImportReport>
  /** The user; null for an unknown id. Throws `invalid_request` for anything but a text. */
  get(id: string): Promise<UserRecord | null>
  /** The user of an address in any spelling; null without one. Throws as `get` does. */
  findByEmail(email: string): Promise<UserRecord | null>
  /**
   * By what a person can sign in as the settings are now: `password`, `email_code` for a mailed code, `passkey` where
   * one does without a password, and ids of providers. Whether the account is enabled and its address confirmed says `get`. Null for an unknown id and
   * for a service account. Throws as `get` does.
   */
  signInMethods(id: string): Promise<readonly string[] | null>
  /**
   * A page of people or of service accounts. A call reads about a thousand records at most: with a filter, a page may
   * have fewer users than `limit`, or none, and still a `next`. Throws `invalid_request` for a page out of bounds.
   */
  list(page?: UserPageRequest): Promise<UserPage>
  /**
   * Mails a link to the new address. Once it is opened, the account has this address; until then nothing changes. The
   * present address is told now and then. No session or password is asked for with the link, so be sure who asks. The
   * link is void after a newer one, a change of the password or a factor, the end of all sessions and a disabling.
   * False where no enabled person has the id. Throws `invalid_request`, `email_not_allowed`,
   * `email_domain_not_allowed`, `email_taken`, `rate_limited` for more than three an hour to one address, and
   * `email_not_verified` where nobody proved the present address and the account registered itself or has a
   * password: a stranger may hold it.
   */
  changeEmail(id: string, newEmail: string, by?: Actor): Promise<boolean>
  /**
   * Resolves with the changed user; null for an unknown id. Throws `invalid_request`, `memberships_changed` for a list
   * with a `membershipsRevision` that is no longer the user's, `role_not_assignable` as `assertRoleAssignable` does, and `import_unfinished` for `enabled: true` where
   * the import of the account was cut off: import its row again.
   */
  update(id: string, changes: UserChanges, by?: Actor): Promise<UserRecord | null>
  /**
   * Adds a user to a tenant, or takes one out: two calls at once both count. Resolves with the user; where that changes
   * nothing, nothing is written and no event emitted. Null for an unknown id. Throws `invalid_request` for what is no
   * tenant id of 1 to 64 characters, and where the list grew beyond 4 KiB.
   */
  readonly memberships: {
    add(id: string, membership: Membership, by?: Actor): Promise<UserRecord | null>
    remove(id: string, tenantId: string, by?: Actor): Promise<UserRecord | null>
  }
  /**
   * Call it before you give a user roles that you keep yourself. Resolves if the user may hold all of
   * them. `super_admin` and `administrator`, in any spelling, are for people: throws
   * `role_not_assignable` for a service account and for an unknown id, and `service_unavailable` when
   * the user cannot be read. Other roles are free for every user, and nothing is read.
   */
  assertRoleAssignable(id: string, roles: string | readonly string[]): Promise<void>
  /**
   * Everything that is stored of a person, without secrets, for a person who asks for their own data. Null
   * for an unknown id and for a service account. Throws as `get` does.
   */
  export(id: string): Promise<UserExport | null>
  /**
   * A link by which a person chooses a password, for the host to hand over: an invitation, or the first operator's. It
   * leads to `pages.resetPassword`, is good once within an hour, and replaces any earlier one, a mailed one too. A
   * person with the link has the account, unless a second factor is asked for: show it to the owner alone, and log it
   * nowhere. Null where no enabled person has the id. Throws `password_login_disabled`, and `email_not_verified` for
   * an address that is not confirmed: create the user with `emailVerified`, or mail the link.
   */
  passwordLink(id: string, by?: Actor): Promise<MailedLink | null>
  /**
   * Removes all second factors of a user who lost them, ends every session and forgets trusted
   * devices; the owner gets a mail. Repeat it after a rejection. False for an unknown id and for a
   * service account.
   */
  resetMfa(id: string, by?: Actor): Promise<boolean>
  /**
   * Ends every session at once and removes the user with all data except audit records; for a service
   * account, its credentials too. Then the address is free; the id is never used again. False for an
   * unknown id. Rejects with a `DeletionRefusedError`, before anything is changed, where foreign keys of the host hold
   * rows of the user. After any other rejection the user may already be disabled for good: repeat it, or the process
   * that sweeps completes it within an hour.
   */
  delete(id: string, by?: Actor): Promise<boolean>
}

const accountFields: readonly AccountField[] = ['name', 'enabled', 'systemRole', 'memberships']

export function createUsers(ctx: SurfaceContext): Users {
  async function write(
    id: string,
    changesOf: (user: User) => UserChanges | null,
  ): Promise<{ readonly before: User; readonly after: User } | null> {
    if (!isId(id)) return null
    return retryOnConflict(10, async () => {
      const user = await ctx.collections.users.get(id)
      // A user that is being deleted can no longer change.
      if (user === null || user.deletingAt !== null) return null
      const changes = changesOf(user)
      if (changes === null) return { before: user, after: user }
      checkRoles([changes.systemRole ?? ''], user)
      const { guard, set } = writeOf(user, changes)
      const written = await ctx.collections.users.update(id, guard, {
        ...set,
        updatedAt: ctx.clock.now(),
      })
      return written === null ? conflict : { before: user, after: written }
    })
  }

  async function addressOf(typed: unknown): Promise<string> {
    const email = typeof typed === 'string' ? await readEmail(typed) : null
    if (email === null) throw invalidUser('email must be an address, such as ada@example.org.')
    const rules = entryRules(ctx.surface, await ctx.settings())
    const refusal = entryRefusal('create', rules, { applicant: { email, acceptedTerms: '' } })
    if (refusal !== null) throw new AuthError(refusal)
    return email
  }

  async function hashOf({ password }: NewUser, email: string, name: string) {
    if (password === undefined) return null
    await checkNewPassword(ctx, password, { email, name, line: hostLine })
    return ctx.passwords.hash(password, hostLine)
  }

  async function create(input: NewUser): Promise<User> {
    const { name = '', systemRole = 'guest', memberships = [] } = onlyMembers(input)
    const email = await addressOf(input.email)
    const passwordHash = await hashOf(input, email, name)
    const now = ctx.clock.now()
    const user = newUser(now, {
      id: uuidv7(now, ctx.random),
      email,
      emailAsTyped: input.email.trim(),
      emailVerifiedAt: input.emailVerified === true ? now : null,
      name,
      systemRole,
      passwordHash,
      passwordChangedAt: passwordHash === null ? null : now,
      memberships,
    })
    if (!(await ctx.collections.users.insert(user))) throw new AuthError('email_taken')
    return user
  }

  /** Tells of the change of an account that `work` makes, also where that fails. */
  async function change(
    id: string,
    act: Act,
    work: () => ReturnType<typeof write>,
    fieldsOf: () => readonly AccountField[],
  ): Promise<User | null> {
    const written = await work().catch((error: unknown) => {
      emitUserFailed(ctx, 'account.updateFailed', act, { targetId: id, error })
      throw error
    })
    if (written === null) {
      emitUserFailed(ctx, 'account.updateFailed', act, { targetId: id })
      return null
    }
    const { before, after } = written
    if (after !== before) emitUserUpdated(ctx, act, fieldsOf(), before, after)
    return after
  }

  async function changeMembership(
    id: string,
    by: Actor,
    step: { readonly add: Membership } | { readonly remove: string },
  ): Promise<UserRecord | null> {
    const work = async () =>
      write(id, (user) => {
        const memberships = membershipsAfter(user.memberships, step)
        return memberships === user.memberships ? null : onlyKnown({ memberships })
      })
    const changed = await change(id, actBy(by), work, () => ['memberships'])
    return changed === null ? null : recordOf(changed)
  }

  return {
    async create(input, by = {}) {
      const act = actBy(by)
      const user = await create(input).catch((error: unknown) => {
        emitUserCreateFailed(ctx, act, error)
        throw error
      })
      ctx.emit('account.created', act.source, { actorId: act.actorId, targetId: user.id })
      return recordOf(user)
    },

    async import(batch, by = {}) {
      const act = actBy(by)
      return importUsers(ctx, batch, act)
    },

    async export(id) {
      return isId(id) ? exportUser(ctx, id) : null
    },

    async get(id) {
      const user = isId(id) ? await ctx.collections.users.get(id) : null
      return user === null ? null : recordOf(user)
    },

    async findByEmail(typed) {
      const email = await readEmail(textOf('email', typed))
      const [user] = email === null ? [] : await ctx.collections.users.find({ email }, { limit: 1 })
      return user === undefined ? null : recordOf(user)
    },

    signInMethods: async (id) => (isId(id) ? signInMethodsOf(ctx, id) : null),

    async list(request = {}) {
      return listUsers(ctx, request)
    },

    changeEmail: async (id, newEmail, by = {}) =>
      requestEmailChangeOf(ctx, textOf('id', id), textOf('newEmail', newEmail), actBy(by)),

    async update(id, changes, by = {}) {
      const act = actBy(by)
      const work = async () => {
        const known = onlyKnown(changes)
        return write(id, () => known)
      }
      const fieldsOf = () => accountFields.filter((field) => changes[field] !== undefined)
      const changed = await change(id, act, work, fieldsOf)
      if (changed === null) return null
      if (changes.enabled === false) {
        await endAllSessions(ctx, id, 'admin', act.source, { actorId: act.actorId })
      }
      return recordOf(changed)
    },

    memberships: {
      async add(id, { tenantId }, by = {}) {
        return changeMembership(id, by, { add: { tenantId } })
      },
      async remove(id, tenantId, by = {}) {
        if (!isTenantId(tenantId))
          throw invalidUser('tenantId must be a text of 1 to 64 characters.')
        return changeMembership(id, by, { remove: tenantId })
      },
    },

    async assertRoleAssignable(id, given) {
      const roles: unknown = typeof given === 'string' ? [given] : given
      if (!Array.isArray(roles) || !roles.every(isStorable)) {
        throw new AuthError('role_not_assignable')
      }
      if (roles.some(isPeopleOnlyRole))
        checkRoles(roles, isId(id) ? await ctx.collections.users.get(id) : null)
    },

    passwordLink: async (id, by = {}) => (isId(id) ? resetLinkFor(ctx, id, actBy(by)) : null),
    resetMfa: (id, by = {}) => resetMfa(ctx, id, actBy(by)),
    async delete(id, by = {}) {
      const deleted = deleteAccount(ctx, id, actBy(by)).catch((error: unknown) => {
        // Callers of a route get the code; the host's own code can do something about the cause.
        const isRefused = error instanceof AuthError && error.cause instanceof DeletionRefusedError
        throw isRefused ? error.cause : error
      })
      return (await deleted) !== null
    },
  }
}

/** What the changes are to the record, and what must be as it was when they are written. */
function writeOf(user: User, given: UserChanges) {
  const { membershipsRevision: expected, ...known } = given
  const { membershipsRevision } = user
  if (expected !== undefined && expected !== membershipsRevision) {
    throw new AuthError('memberships_changed')
  }
  const { memberships } = known
  if (memberships === undefined) return writeOfStanding(user, known)
  const listed = {
    soleTenant: soleTenantOf(memberships),
    membershipsRevision: membershipsRevision + 1,
  }
  const { guard, set } = writeOfStanding(user, { ...known, ...listed })
  return { guard: { ...guard, membershipsRevision }, set }
}

function writeOfStanding(user: User, changes: Partial<User>) {
  const { sessionEpoch, credentialEpoch, deviceEpoch, importState } = user
  const isUnfinished = isUnfinishedImport(user)
  // Its second factor may be missing: a password alone would open it.
  if (isUnfinished && changes.enabled === true) throw new AuthError('import_unfinished')
  const epochs = { sessionEpoch, credentialEpoch, deviceEpoch }
  // An import that completes it meanwhile removes the mark, and moves no epoch.
  const guard = isUnfinished ? { ...epochs, importState } : epochs
  if (changes.enabled !== false) return { guard, set: changes }
  const ended = {
    sessionEpoch: sessionEpoch + 1,
    credentialEpoch: credentialEpoch + 1,
    deviceEpoch: deviceEpoch + 1,
    ...sparesNone,
  }
  const marked = isUnfinished ? { importState: 'disabled' as const } : {}
  return { guard, set: { ...changes, ...ended, ...marked } }
}

async function signInMethodsOf(ctx: SurfaceContext, id: string): Promise<readonly string[] | null> {
  const [user, identities, passkeys, current] = await Promise.all([
    ctx.collections.users.get(id),
    identitiesOf(ctx, id),
    passkeysOfUser(ctx.collections, id),
    ctx.settings(),
  ])
  if (user === null || !isHuman(user)) return null
  // Only one that verifies the person opens an account by itself.
  const opens = passkeys.some(({ uvInitialized }) => uvInitialized)
  const isOpen = current.webauthnMode === 'passwordless' && opens
  return [...waysIn(ctx, current, user, identities), ...(isOpen ? ['passkey'] : [])]
}

/** False for a text that is no id, whatever it holds. */
function isId(id: unknown): boolean {
  return isUuid(textOf('id', id))
}

/** Some databases take an object for a query. */
function textOf(member: string, value: unknown): string {
  if (typeof value !== 'string') throw invalidUser(`${member} must be a text.`)
  return value
}

// Removes all second factors of a user who lost them.

/** One that is stored meanwhile sees that the epoch has moved, and is taken back. */
async function takePasskeys(ctx: SurfaceContext, userId: string): Promise<void> {
  const keys = await passkeysOfUser(ctx.collections, userId)
  await Promise.all(keys.map(({ id }) => ctx.collections.passkeys.take(id, { userId })))
}

/**
 * Ends the person's sessions and half-finished logins, forgets trusted devices, and removes every
 * factor, in this order; then it ends what was opened by a factor meanwhile. After an interruption, the
 * next attempt completes it. False for an unknown id and for a service
 * account.
 */
export async function resetMfa(
  ctx: SurfaceContext,
  userId: string,
  { actorId, source }: Act,
): Promise<boolean> {
  const user = isUuid(userId) ? await ctx.collections.users.get(userId) : null
  if (user === null || !isHuman(user)) return false
  const endSessions = async () => {
    const raised = await raiseSessionEpoch(ctx.collections.users, userId)
    if (raised !== null) await endAllSessions(ctx, userId, 'admin', source, { actorId })
    return raised !== null
  }
  if (!(await endSessions())) return false
  // A session that was let in until now may be adding a factor: it sees this, or we see the factor.
  if ((await raiseDeviceEpoch(ctx.collections.users, userId)) === null) return false
  await Promise.all([
    ctx.collections.totpFactors.take(userId),
    ctx.collections.backupCodes.take(userId),
    takePasskeys(ctx, userId),
  ])
  // Once more: a login by a factor may have come in just before its removal.
  if (!(await endSessions())) return false
  const change = { change: 'factorsReset', source, actorId } as const
  // What a factor granted between the epoch and its removal.
  await retireProofs(ctx, user, change)
  factorChanged(ctx, user, change)
  await clearGuesses(ctx, user, 'factor')
  return true
}
