import { workOff } from '../../concurrency/work-off.js'
import type { AccountDeletion } from '../../model/account-deletion.js'
import type { User } from '../../model/user.js'
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
  /** Null when the account is gone; `changed` where its credentials are of another epoch than is wanted. */
  disable(userId: string, credentialEpoch: number | null): Promise<User | null | 'changed'>
  complete(userId: string, user: User | null, act: Act): Promise<unknown>
}

/** What is left to do of a deletion is done for `attemptMs` with no other attempt beside it. */
export function createDeletionResumption(
  { collections, serviceCredentials, clock }: Deps,
  attemptMs: number,
  { disable, complete }: Steps,
): DeletionResumption {
  const { users, accountDeletions } = collections

  async function resumeOne(noted: AccountDeletion): Promise<void> {
    const { id, expiresAt, actorId, deletedAt } = noted
    const user = await users.get(id)
    if (user !== null && user.deletingAt === null && deletedAt !== null) {
      await accountDeletions.take(id, { expiresAt })
      return
    }
    if (user === null && deletedAt !== null) {
      await removePersonalData(collections, serviceCredentials, { userId: id, email: null })
      // Of the account its id stays, so that none is made with it again.
      await accountDeletions.update(id, { expiresAt }, { expiresAt: null, actorId: null })
      return
    }
    const claim = { expiresAt: clock.now() + attemptMs }
    if ((await accountDeletions.update(id, { expiresAt }, claim)) === null) return
    // Cut short before that, the caller got an error and may have left it at that.
    const disabled = await disable(id, noted.credentialEpoch)
    // The owner took the account back meanwhile, from whatever thief had asked for its deletion.
    if (disabled === 'changed') await accountDeletions.take(id, claim)
    else await complete(id, disabled, { actorId, source: { ip: null, userAgent: null } })
  }

  return {
    resume: () => workOff((limit) => accountDeletions.due(clock.now(), limit), resumeOne),
  }
}
