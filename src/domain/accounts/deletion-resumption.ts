import { workOff } from '../../concurrency/promises.js'
import { isUnfinishedImport } from '../../engine/accounts.js'
import type { AccountDeletion, User } from '../../model/user.js'
import type { Act } from '../context/actor.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { removePersonalData } from './personal-data.js'

/** Completes deletions of accounts whose request has ended. */
export interface DeletionResumption {
  /**
   * Goes on with deletions that were cut off, and looks once more after those that were not: a
   * request under way meanwhile may have left something behind. A bounded piece of the work: call
   * it again where there is `more`.
   */
  resume(): Promise<'more' | 'done'>
}

type Deps = Pick<SurfaceContext, 'collections' | 'serviceCredentials' | 'clock'>

/** The steps of a deletion, each of which can be repeated. */
interface Steps {
  /** Null when the account is gone; what `judge` gives for the account as it is now, unless that is null. */
  disable<R extends string>(
    userId: string,
    judge: (user: User) => Promise<R | null>,
  ): Promise<User | null | R>
  complete(userId: string, user: User | null, act: Act): Promise<unknown>
}

/** What is left to do of a deletion is done for `attemptMs` with no other attempt beside it. */
export function createDeletionResumption(
  { collections, serviceCredentials, clock }: Deps,
  attemptMs: number,
  { disable, complete }: Steps,
): DeletionResumption {
  const { users, accountDeletions } = collections

  /** Whether the call that made it never finished. Then a service account has no secret that a caller knows. */
  async function isUnfinished(user: User): Promise<boolean> {
    if (user.kind !== 'service') return isUnfinishedImport(user)
    const [credential] = await serviceCredentials.find({ accountId: user.id }, { limit: 1 })
    return credential === undefined
  }

  /**
   * Takes away an account that a call began to make with the id of a deleted one, and never finished: enabled it would
   * pass for the account of before.
   */
  async function withoutUnfinished(user: User | null): Promise<User | null> {
    if (user === null || !(await isUnfinished(user))) return user
    const { id, lastIntentId } = user
    const isTaken = (await users.take(id, { enabled: false, lastIntentId })) !== null
    return isTaken ? null : users.get(id)
  }

  /**
   * Null where the account is to be closed. Where its credentials changed since, the owner may have taken it back from a
   * thief who asked for the deletion: it is given up. The write here first keeps out an attempt that is still under way.
   */
  async function judge(noted: AccountDeletion, user: User): Promise<'givenUp' | 'later' | null> {
    const { credentialEpoch } = noted
    const isSame = credentialEpoch === null || credentialEpoch === user.credentialEpoch
    if (user.deletingAt !== null || isSame) return null
    const { id, updatedAt } = user
    const moved = { updatedAt: Math.max(clock.now(), updatedAt + 1) }
    const isFenced = (await users.update(id, { updatedAt, deletingAt: null }, moved)) !== null
    return isFenced ? 'givenUp' : 'later'
  }

  async function resumeOne(noted: AccountDeletion): Promise<void> {
    const { id, expiresAt, actorId, deletedAt } = noted
    const found = await users.get(id)
    const user = deletedAt === null ? found : await withoutUnfinished(found)
    if (user !== null && user.deletingAt === null && deletedAt !== null) {
      await accountDeletions.take(id, { expiresAt })
      return
    }
    if (user === null && deletedAt !== null) {
      await removePersonalData(collections, serviceCredentials, { userId: id, email: null })
      // The id of the account stays, so that no account is made with it again.
      await accountDeletions.update(id, { expiresAt }, { expiresAt: null, actorId: null })
      return
    }
    const claim = { expiresAt: clock.now() + attemptMs }
    if ((await accountDeletions.update(id, { expiresAt }, claim)) === null) return
    // The request may have died before it closed the account. Its caller got an error and may not have repeated it.
    const closed = await disable(id, (now) => judge(noted, now))
    if (closed === 'givenUp') await accountDeletions.take(id, { ...claim, actorId })
    else if (closed !== 'later')
      await complete(id, closed, { actorId, source: { ip: null, userAgent: null } })
  }

  return {
    resume: () => workOff((limit) => accountDeletions.due(clock.now(), limit), resumeOne),
  }
}
