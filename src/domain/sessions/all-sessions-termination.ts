import { allTried } from '../../concurrency/promises.js'
import { AuthError } from '../../errors/index.js'
import type { RefreshFamily, Session } from '../../model/sessions.js'
import type { User } from '../../model/user.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import type { Act } from '../context/actor.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import { requiredEpoch } from './refresh-reading.js'
import { endMatchingSessions } from './session-endings.js'

// Ends what all people of a surface hold.

const pageSize = 200
/** Users beside each other: others share the database meanwhile. */
const atOnce = 20
/**
 * Further than any user's epochs move between a backup and its return, when `splitStore` keeps tickets
 * or refresh rows elsewhere: those of later epochs, which were not taken back, must not count again.
 */
const leap = 1_000_000

function raised(ctx: SurfaceContext, user: User, issuedBefore: number): Partial<Omit<User, 'id'>> {
  return {
    sessionEpoch: user.sessionEpoch + leap,
    credentialEpoch: user.credentialEpoch + leap,
    deviceEpoch: user.deviceEpoch + leap,
    keptSessionId: null,
    endedBefore: issuedBefore,
    updatedAt: ctx.clock.now(),
  }
}

/** The user as written now or by an earlier call; null for one that is gone or being deleted. */
function raise(
  ctx: SurfaceContext,
  id: string,
  issuedBefore: number,
): Promise<{ readonly user: User; readonly isNew: boolean } | null> {
  return retryOnConflict(10, async () => {
    const user = await ctx.collections.users.get(id)
    if (user === null || user.deletingAt !== null) return null
    if ((user.endedBefore ?? 0) >= issuedBefore) return { user, isNew: false }
    const { sessionEpoch, credentialEpoch, deviceEpoch } = user
    const guard = { sessionEpoch, credentialEpoch, deviceEpoch }
    const written = await ctx.collections.users.update(id, guard, raised(ctx, user, issuedBefore))
    return written === null ? conflict : { user: written, isNew: true }
  })
}

/** Refresh is refused to all of them already; this takes their access tokens. */
async function endOlder(ctx: SurfaceContext, user: User, { actorId, source }: Act): Promise<void> {
  const which = {
    userId: user.id,
    family: (family: RefreshFamily) => isOlder(family, user),
    // A login under way has its document before its row, and is younger.
    rowless: ({ loginAt }: Session) => loginAt < (user.endedBefore ?? 0),
  }
  await endMatchingSessions(ctx, which, 'admin', source, { actorId })
}

/** A later call may have spared a session that was opened since. */
function isOlder({ id, sessionEpoch }: RefreshFamily, user: User): boolean {
  const required = requiredEpoch(user, id)
  return required !== null && sessionEpoch !== required
}

async function terminateOne(
  ctx: SurfaceContext,
  id: string,
  issuedBefore: number,
  act: Act,
): Promise<number> {
  const outcome = await raise(ctx, id, issuedBefore)
  if (outcome === null) return 0
  const { user, isNew } = outcome
  if (isNew) {
    const facts = { actorId: act.actorId, targetId: id }
    ctx.emit('session.allTerminated', act.source, facts)
  }
  await endOlder(ctx, user, act)
  return isNew ? 1 : 0
}

/**
 * One guarded write a user raises all epochs and notes `issuedBefore`; then the sessions of older
 * epochs are ended. A repeated call with the same time writes to no user again and completes their
 * endings, so it leaves alone who signed in since. Answers how many users it wrote to.
 */
export async function terminateAllSessions(
  ctx: SurfaceContext,
  issuedBefore: number,
  act: Act,
): Promise<number> {
  const isTime = Number.isSafeInteger(issuedBefore) && issuedBefore > 0
  if (!isTime || issuedBefore > ctx.clock.now()) {
    const detail = 'issuedBefore must be a past time in whole epoch milliseconds.'
    throw new AuthError('invalid_request', { detail })
  }
  let written = 0
  let page: readonly User[]
  let next: { readonly after?: string } = {}
  do {
    page = await ctx.collections.users.find({ kind: '' }, { limit: pageSize, ...next })
    for (let from = 0; from < page.length; from += atOnce) {
      const ids = page.slice(from, from + atOnce).map(({ id }) => id)
      const counts = await allTried(ids.map((id) => terminateOne(ctx, id, issuedBefore, act)))
      written += counts.reduce((sum, count) => sum + count, 0)
    }
    next = { after: page.at(-1)?.id ?? '' }
  } while (page.length === pageSize)
  return written
}
