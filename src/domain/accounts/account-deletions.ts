import { onceLoaded } from '../../concurrency/once-loaded.js'
import { isUuid } from '../../crypto/uuid.js'
import { AuthError, type ErrorCode, loadPart } from '../../errors/index.js'
import type { User } from '../../model/user.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import type { Act } from '../context/actor.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { clearFailures } from '../limits/lockout.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import type { Sessions } from '../sessions/sessions.js'
import { createAccountEvents } from './account-events.js'
import type { DeletionResumption } from './deletion-resumption.js'
import { removePersonalData } from './personal-data.js'

/**
 * Deletes accounts with all that is kept of them. Its order: the deletion is noted; the account is
 * disabled and its epochs raised, so that no login succeeds any more; sessions are ended, the denylist
 * first; everything of the user is removed; the user record goes last, and with it the address is
 * free. An interruption after the account was disabled leaves one that no caller can use, and the next
 * attempt completes it; so it does where only the note was written.
 */
export interface AccountDeletions extends DeletionResumption {
  /**
   * Which attempt at it finished: this one, or another beside it. Null when there is no such user.
   * Repeat it after a rejection, or leave that to `resume`. `refusalOf` is asked of the account as it is when it is
   * closed: throws the code that it gives, and deletes nothing.
   */
  delete(userId: string, act: Act, refusalOf?: RefusalOf): Promise<Finisher | null>
}

type RefusalOf = (user: User) => Promise<ErrorCode | null>

export type Finisher = 'this' | 'other'

interface Deps
  extends Pick<
    SurfaceContext,
    'collections' | 'serviceCredentials' | 'denylist' | 'clock' | 'idleMs' | 'emit' | 'logger'
  > {
  readonly limits: RateLimiter
}

/** How long an attempt has the deletion to itself. */
const attemptMs = 60_000
/** Longer than any request under way can take. */
const lookAgainMs = 10 * 60_000
const tries = 10

export function createAccountDeletions(deps: Deps, sessions: Sessions): AccountDeletions {
  const { collections, clock } = deps
  const { users, accountDeletions } = collections
  const events = createAccountEvents(deps)

  /** Notes what is about to begin; an earlier attempt's note is taken over. */
  async function note({ id: userId, credentialEpoch }: User, { actorId }: Act): Promise<void> {
    await retryOnConflict(tries, async () => {
      const begunAt = clock.now()
      const expiresAt = begunAt + attemptMs
      const fresh = { id: userId, actorId, begunAt, credentialEpoch, deletedAt: null, expiresAt }
      if (await accountDeletions.insert(fresh)) return fresh
      const found = await accountDeletions.get(userId)
      if (found === null) return conflict
      if (found.deletedAt !== null) return found
      // What an administrator began is not given up where its owner may not delete it.
      const isOthers = actorId === userId && found.actorId !== userId
      const set = isOthers ? { expiresAt } : { actorId, credentialEpoch, expiresAt }
      const guard = { expiresAt: found.expiresAt }
      return (await accountDeletions.update(userId, guard, set)) ?? conflict
    })
  }

  /**
   * Once it resolves with the user, no login succeeds and no call changes the account. Null when it is gone. Resolves
   * with the refusal, and does nothing, where there is one for the account as it is now.
   */
  function disable<R extends string>(
    userId: string,
    refusalOf: (user: User) => Promise<R | null>,
  ): Promise<User | null | R> {
    return retryOnConflict(tries, async () => {
      const user = await users.get(userId)
      if (user === null || user.deletingAt !== null) return user
      const refusal = await refusalOf(user)
      if (refusal !== null) return refusal
      const { sessionEpoch, credentialEpoch, deviceEpoch } = user
      const now = clock.now()
      const disabled = await users.update(
        userId,
        { sessionEpoch, credentialEpoch, deviceEpoch },
        {
          enabled: false,
          deletingAt: now,
          updatedAt: now,
          sessionEpoch: sessionEpoch + 1,
          credentialEpoch: credentialEpoch + 1,
          deviceEpoch: deviceEpoch + 1,
          keptSessionId: null,
        },
      )
      return disabled ?? conflict
    })
  }

  /** Only the attempt that finished it emits the event. */
  async function finish(userId: string, act: Act): Promise<Finisher> {
    const deletedAt = clock.now()
    const set = { deletedAt, expiresAt: deletedAt + lookAgainMs }
    try {
      if ((await accountDeletions.update(userId, { deletedAt: null }, set)) === null) return 'other'
    } catch (error) {
      // The answer was lost: the note shows whether the write took effect.
      if ((await accountDeletions.get(userId))?.deletedAt !== deletedAt) throw error
    }
    events.deleted(act, userId)
    return 'this'
  }

  async function complete(userId: string, user: User | null, act: Act): Promise<Finisher> {
    const reason = act.actorId === userId ? 'logout' : 'admin'
    await sessions.endAll(userId, reason, act.source, { actorId: act.actorId })
    await removePersonalData(collections, deps.serviceCredentials, {
      userId,
      email: user?.email ?? null,
    })
    if (user !== null) await clearFailures(deps.limits, user)
    await users.take(userId)
    return finish(userId, act)
  }

  async function attempt(userId: string, act: Act, refusalOf: RefusalOf): Promise<Finisher | null> {
    if (!isUuid(userId)) return null
    const found = await users.get(userId)
    if (found !== null) {
      await note(found, act)
    } else {
      const begun = await accountDeletions.get(userId)
      if (begun === null || begun.deletedAt !== null) return null
    }
    const user = await disable(userId, refusalOf)
    if (typeof user === 'string') throw new AuthError(user)
    return complete(userId, user, act)
  }

  /** For the process that sweeps alone. */
  const resumption = onceLoaded(async () => {
    const load = () => import('./deletion-resumption.js')
    const { createDeletionResumption } = await loadPart('deletions that were cut off', load)
    return createDeletionResumption(deps, attemptMs, { disable, complete })
  })

  return {
    async delete(userId, act, refusalOf = async () => null) {
      try {
        const deleted = await attempt(userId, act, refusalOf)
        if (deleted === null) events.deleteFailed(act, userId)
        return deleted
      } catch (error) {
        events.deleteFailed(act, userId, error)
        throw error
      }
    },

    resume: async () => (await resumption()).resume(),
  }
}
