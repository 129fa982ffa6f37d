import { AuthError } from '../../errors/index.js'
import type { RefreshFamily } from '../../model/refresh-family.js'
import type { User } from '../../model/user.js'
import type { RequestSource } from '../../ports/request-source.js'
import { newestFirst } from '../../stores/newest-first.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import type { Act } from '../context/actor.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { requiredEpoch } from './refresh-inspection.js'
import type { SessionTermination } from './session-termination.js'

/** Ends what all people of a surface hold. */
export interface AllSessionsTermination {
  /**
   * One guarded write a user raises all epochs and notes `issuedBefore`; then the sessions of older
   * epochs are ended. A repeated call with the same time writes to no user again and completes their
   * endings, so it leaves alone who signed in since. Answers how many users it wrote to.
   */
  terminateAll(issuedBefore: number, act: Act): Promise<number>
}

type Deps = Pick<SurfaceContext, 'collections' | 'clock' | 'emit'>

const pageSize = 200
/** Users beside each other: others share the database meanwhile. */
const atOnce = 20
/**
 * Further than any user's epochs move between a backup and its return, when `splitStore` keeps tickets
 * or refresh rows elsewhere: those of later epochs, which were not taken back, must not count again.
 */
const leap = 1_000_000

export function createAllSessionsTermination(
  { collections, clock, emit }: Deps,
  sessions: SessionTermination,
): AllSessionsTermination {
  const { users, families } = collections

  function raised(user: User, issuedBefore: number): Partial<Omit<User, 'id'>> {
    return {
      sessionEpoch: user.sessionEpoch + leap,
      credentialEpoch: user.credentialEpoch + leap,
      deviceEpoch: user.deviceEpoch + leap,
      keptSessionId: null,
      endedBefore: issuedBefore,
      updatedAt: clock.now(),
    }
  }

  /** The user as written now or by an earlier call; null for one that is gone or being deleted. */
  function raise(
    id: string,
    issuedBefore: number,
  ): Promise<{ readonly user: User; readonly isNew: boolean } | null> {
    return retryOnConflict(10, async () => {
      const user = await users.get(id)
      if (user === null || user.deletingAt !== null) return null
      if ((user.endedBefore ?? 0) >= issuedBefore) return { user, isNew: false }
      const { sessionEpoch, credentialEpoch, deviceEpoch } = user
      const guard = { sessionEpoch, credentialEpoch, deviceEpoch }
      const written = await users.update(id, guard, raised(user, issuedBefore))
      return written === null ? conflict : { user: written, isNew: true }
    })
  }

  /** Refresh is refused to all of them already; this takes their access tokens. */
  async function endOlder(user: User, { actorId, source }: Act): Promise<void> {
    const { id: userId, endedBefore } = user
    const known = new Set<string>()
    for await (const family of newestFirst(families, { userId })) {
      known.add(family.id)
      if (family.revokedAt !== null) {
        await sessions.closeDocument(family.id, family.revokedReason ?? 'admin')
      } else if (isOlder(family, user)) {
        await sessions.end(family, 'admin', source, { actorId })
      }
    }
    await endSwept({ userId, endedBefore }, known, source, actorId)
  }

  /** Sessions whose refresh row was swept: an access token minted before may live on. */
  async function endSwept(
    { userId, endedBefore }: { readonly userId: string } & Pick<User, 'endedBefore'>,
    known: ReadonlySet<string>,
    source: RequestSource,
    actorId: string | null,
  ): Promise<void> {
    const active = { userId, active: true }
    for await (const document of newestFirst(collections.sessions, active)) {
      // A login under way has its document before its row, and is younger.
      if (known.has(document.id) || document.loginAt >= (endedBefore ?? 0)) continue
      await sessions.end(document, 'admin', source, { actorId, refreshRowMissing: true })
    }
  }

  /** A later call may have spared a session that was opened since. */
  function isOlder({ id, sessionEpoch }: RefreshFamily, user: User): boolean {
    const required = requiredEpoch(user, id)
    return required !== null && sessionEpoch !== required
  }

  async function terminateOne(id: string, issuedBefore: number, act: Act): Promise<number> {
    const outcome = await raise(id, issuedBefore)
    if (outcome === null) return 0
    const { user, isNew } = outcome
    if (isNew) {
      const facts = { actorId: act.actorId, targetId: id }
      emit('session.allTerminated', act.source, facts)
    }
    await endOlder(user, act)
    return isNew ? 1 : 0
  }

  /** One that fails does not keep back the others of its batch. */
  async function terminateBatch(ids: readonly string[], issuedBefore: number, act: Act) {
    const outcomes = await Promise.allSettled(ids.map((id) => terminateOne(id, issuedBefore, act)))
    const failed = outcomes.find((outcome) => outcome.status === 'rejected')
    if (failed) throw failed.reason
    const counts = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : 0))
    return counts.reduce((sum, count) => sum + count, 0)
  }

  return {
    async terminateAll(issuedBefore, act) {
      const isTime = Number.isSafeInteger(issuedBefore) && issuedBefore > 0
      if (!isTime || issuedBefore > clock.now()) {
        const detail = 'issuedBefore must be a past time in whole epoch milliseconds.'
        throw new AuthError('invalid_request', { detail })
      }
      let written = 0
      let page: readonly User[]
      let next: { readonly after?: string } = {}
      do {
        page = await users.find({ kind: '' }, { limit: pageSize, ...next })
        for (let from = 0; from < page.length; from += atOnce) {
          const ids = page.slice(from, from + atOnce).map(({ id }) => id)
          written += await terminateBatch(ids, issuedBefore, act)
        }
        next = { after: page.at(-1)?.id ?? '' }
      } while (page.length === pageSize)
      return written
    },
  }
}
