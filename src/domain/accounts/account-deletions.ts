import { isUuid } from '../../crypto/secrets.js'
import type { AuthError } from '../../errors/index.js'
import { type AccountDeletion, onlyByRequest, type User } from '../../model/user.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import type { Act } from '../context/actor.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { clearFailures } from '../limits/lockout.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import type { Sessions } from '../sessions/sessions.js'
import { createAccountEvents } from './account-events.js'
import { createDeletionResumption, type DeletionResumption } from './deletion-resumption.js'
import { removePersonalData } from './personal-data.js'

/**
 * Deletes accounts with all that is kept of them. Its order: the deletion is noted; the account is
 * disabled and its epochs raised, so that no login succeeds any more; sessions are ended, the denylist
 * first; everything of the user is removed; the user record goes last, and with it the address is
 * free. If an attempt dies after it disabled the account, no caller can use the account, and the next attempt or the
 * process that sweeps completes the deletion. If it dies before, the process that sweeps completes it only where the note
 * allows that (see `onlyByRequest`).
 */
export interface AccountDeletions extends DeletionResumption {
  /**
   * Deletes the user. Resolves with the attempt that finished: this one, or another at the same time. Null when there is
   * no such user. Repeat it after a rejection, or leave that to `resume`. `refusalOf` is asked of the account as it is
   * when it is closed: what it gives is thrown, and nothing is deleted, then or later.
   */
  delete(userId: string, act: Act, refusalOf?: RefusalOf): Promise<Finisher | null>
}

type RefusalOf = (user: User) => Promise<AuthError | null>

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

  /**
   * Notes what is about to begin, and takes over the note of an earlier attempt. An owner, who may be refused, does not
   * take over the note of an administrator. The note of a deletion that was finished is written again where the account
   * is there again, as from a backup.
   */
  async function note({ id: userId }: User, { actorId }: Act, epoch: number): Promise<void> {
    await retryOnConflict(tries, async () => {
      const begunAt = clock.now()
      const expiresAt = begunAt + attemptMs
      const fresh = {
        id: userId,
        actorId,
        begunAt,
        credentialEpoch: epoch,
        deletedAt: null,
        expiresAt,
      }
      if (await accountDeletions.insert(fresh)) return fresh
      const found = await accountDeletions.get(userId)
      if (found === null) return conflict
      // Another attempt has finished it just now.
      if (found.deletedAt !== null && (await collections.users.get(userId)) === null) return found
      const guard = { expiresAt: found.expiresAt }
      return (await accountDeletions.update(userId, guard, noteOver(found, fresh))) ?? conflict
    })
  }

  /**
   * Once it resolves with the user, no login succeeds and no call changes the account. Null when it is gone. `judge` is
   * asked before each try; with what it gives, unless that is null, it resolves, and does nothing.
   */
  function disable<R extends string>(
    userId: string,
    judge: (user: User) => Promise<R | null>,
  ): Promise<User | null | R> {
    return retryOnConflict(tries, async () => {
      const user = await users.get(userId)
      if (user === null) return null
      const refusal = await judge(user)
      if (refusal !== null) return refusal
      if (user.deletingAt !== null) return user
      const { sessionEpoch, credentialEpoch, deviceEpoch, updatedAt } = user
      const now = clock.now()
      const disabled = await users.update(
        userId,
        { sessionEpoch, credentialEpoch, deviceEpoch, updatedAt },
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

  async function attempt(
    userId: string,
    act: Act,
    refusalOf: RefusalOf | undefined,
  ): Promise<Finisher | null> {
    if (!isUuid(userId)) return null
    let wasThere = false
    const closed = await disable<never>(userId, async (user) => {
      wasThere = true
      await note(user, act, refusalOf === undefined ? user.credentialEpoch : onlyByRequest)
      const refusal = user.deletingAt === null ? await refusalOf?.(user) : null
      if (refusal) throw refusal
      return null
    })
    // Another attempt may have finished it since it was there.
    if (!wasThere) {
      const begun = await accountDeletions.get(userId)
      if (begun === null || begun.deletedAt !== null) return null
    }
    return complete(userId, closed, act)
  }

  return {
    async delete(userId, act, refusalOf) {
      try {
        const deleted = await attempt(userId, act, refusalOf)
        if (deleted === null) events.deleteFailed(act, userId)
        return deleted
      } catch (error) {
        events.deleteFailed(act, userId, error)
        throw error
      }
    },

    ...createDeletionResumption(deps, attemptMs, { disable, complete }),
  }
}

/** What becomes of the note that is there. */
function noteOver(found: AccountDeletion, fresh: AccountDeletion): Partial<AccountDeletion> {
  const { actorId, begunAt, credentialEpoch, deletedAt, expiresAt } = fresh
  if (found.deletedAt !== null) return { actorId, begunAt, credentialEpoch, deletedAt, expiresAt }
  const isOthers = credentialEpoch === onlyByRequest && found.credentialEpoch !== onlyByRequest
  return isOthers ? { expiresAt } : { actorId, credentialEpoch, expiresAt }
}
