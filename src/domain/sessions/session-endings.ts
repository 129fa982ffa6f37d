import { allTried, batchesOf, unwrapSettled } from '../../concurrency/promises.js'
import { sparesNone } from '../../engine/accounts.js'
import { AuthError, describeError } from '../../errors/index.js'
import type { RefreshFamily, Session } from '../../model/sessions.js'
import type { User } from '../../model/user.js'
import type { DenylistEntry } from '../../ports/backend.js'
import type { EndReason } from '../../ports/events.js'
import type { Collection } from '../../ports/store.js'
import type { RequestSource } from '../../ports/surface.js'
import { newestFirst } from '../../stores/pages.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import { denylistLifeMs, sessionDenylistId } from '../context/open-collections.js'
import { attemptGuess } from '../limits/lockout.js'
import type { SurfaceContext } from '../surface/surface-context.js'

/** Sessions ended beside each other: others share the database meanwhile. */
const atOnce = 20
/**
 * A login writes its document and its row beside each other, so for a moment the document may be there alone. The fence
 * of that login decides: the login has a later epoch than the sessions that end here, or it is refused.
 */
export const underWayMs = 60_000

export interface SessionSelection {
  readonly userId: string
  /** Asked for each row that was not revoked. */
  family(family: RefreshFamily): boolean
  /** Asked for each session that is active and has no row: it was swept, or is yet to be written. */
  rowless(session: Session): boolean
}

/** A user's families that were not revoked, newest first; notes each, and why the others were. */
async function* liveFamilies(
  ctx: SurfaceContext,
  userId: string,
  known: Map<string, EndReason | null>,
): AsyncGenerator<RefreshFamily> {
  for await (const family of newestFirst(ctx.collections.families, { userId })) {
    const isLive = family.revokedAt === null
    known.set(family.id, isLive ? null : (family.revokedReason ?? 'admin'))
    if (isLive) yield family
  }
}

/** What is active still was interrupted before its last step, or its row is not there. */
async function* activeDocuments(
  ctx: SurfaceContext,
  userId: string,
  oldest = '',
): AsyncGenerator<Session> {
  for await (const one of newestFirst(ctx.collections.sessions, { userId })) {
    if (one.id < oldest) return
    if (one.active) yield one
  }
}

/**
 * Ends those of a user's sessions that `which` picks, twenty beside each other, and completes what an
 * earlier call left undone. One that fails keeps back none of its twenty.
 */
export async function endMatchingSessions(
  ctx: SurfaceContext,
  which: SessionSelection,
  reason: EndReason,
  source: RequestSource,
  options: Pick<EndingOptions, 'actorId'> = {},
): Promise<void> {
  const { userId } = which
  const known = new Map<string, EndReason | null>()
  // Also the idle-expired: `GET session` may have minted a token just before the deadline.
  for await (const batch of batchesOf(liveFamilies(ctx, userId, known), atOnce)) {
    const those = batch.filter((family) => which.family(family))
    if (those.length > 0) await endTogether(ctx, those, reason, source, options)
  }
  for await (const batch of batchesOf(activeDocuments(ctx, userId), atOnce)) {
    await closeKnown(ctx, batch, known)
    const those = batch.filter((session) => !known.has(session.id) && which.rowless(session))
    const rowless = { ...options, refreshRowMissing: true } as const
    if (those.length > 0) await endTogether(ctx, those, reason, source, rowless)
  }
}

async function closeKnown(
  ctx: SurfaceContext,
  batch: readonly Session[],
  known: ReadonlyMap<string, EndReason | null>,
): Promise<void> {
  await allTried(
    batch.map(async ({ id }) => {
      const reason = known.get(id) ?? null
      if (reason !== null) await closeDocument(ctx, id, reason)
    }),
  )
}

/**
 * Ends one session in three repeatable steps, denylist first, so that a crash at any point
 * leaves it refused for as long as its entry lives, and the next attempt completes. True for the caller that ended it.
 */
export async function endSession(
  ctx: SurfaceContext,
  session: Ended,
  reason: EndReason,
  source: RequestSource,
  options?: EndingOptions,
): Promise<boolean> {
  const [ended = false] = await endTogether(ctx, [session], reason, source, options)
  return ended
}

/**
 * Ends every session of a user whose `sessionEpoch` was just raised, but for `except`, and completes
 * what an earlier call left undone. Call only after the user was written: from then on no older
 * family can be refreshed.
 */
export async function endAllSessions(
  ctx: SurfaceContext,
  userId: string,
  reason: EndReason,
  source: RequestSource,
  { except, ...options }: { readonly except?: string } & Pick<EndingOptions, 'actorId'> = {},
): Promise<void> {
  const isOther = ({ id }: Ended) => id !== except
  const newest = ctx.clock.now() - underWayMs
  const rowless = (session: Session) => isOther(session) && session.loginAt <= newest
  await endMatchingSessions(ctx, { userId, family: isOther, rowless }, reason, source, options)
}

/** Ends what is beyond the newest `limit` live sessions of a user. */
export async function trimSessions(
  ctx: SurfaceContext,
  userId: string,
  limit: number,
  source: RequestSource,
): Promise<void> {
  let live = 0
  const known = new Map<string, EndReason | null>()
  for await (const batch of batchesOf(liveFamilies(ctx, userId, known), atOnce)) {
    const beyond = batch.filter(({ expiresAt }) => {
      if (expiresAt <= ctx.clock.now()) return false
      live += 1
      return live > limit
    })
    if (beyond.length > 0) await endTogether(ctx, beyond, 'limit', source)
  }
  if (live <= limit) return
  // A login cut short while it trimmed left endings undone: the next one is over the limit too. There may
  // be very many documents older than the oldest row, and this puts none of them right.
  const documents = activeDocuments(ctx, userId, [...known.keys()].at(-1))
  for await (const batch of batchesOf(documents, atOnce)) await closeKnown(ctx, batch, known)
}

// The three steps in which a session ends, denylist first; each may be repeated.

export interface EndingOptions {
  /** The actor, if not the owner. Default: the owner where the reason says so, else null. */
  readonly actorId?: string | null
  /** Called at once by the call that ended it, whatever fails afterwards. */
  readonly onEnded?: () => void
  /** Its family row was swept: the call that closes the document is the one that ended it. */
  readonly refreshRowMissing?: true
}

/** What a session ends as. Its entry is written before this is known, and is the same for each reason. */
export interface Judgement extends Pick<EndingOptions, 'onEnded'> {
  readonly reason: Exclude<EndReason, 'max_age'>
}

/** A session to be ended. */
export type Ended = Pick<RefreshFamily, 'id' | 'userId'>

/** How a session ends. */
interface Manner extends EndingOptions {
  readonly reason: EndReason
  readonly source: RequestSource
}

function entryOf(
  ctx: SurfaceContext,
  id: string,
  reason: EndReason,
  expiresAt: number,
): DenylistEntry {
  return {
    id: sessionDenylistId(ctx.surface, id),
    reason: reason === 'max_age' ? 'max_age' : 'revoked',
    expiresAt,
  }
}

/**
 * Why sessions are on the denylist, by id; nothing of those that are not, or where that cannot be
 * known. It is asked beside the write and so costs no time: the first reason stays, in whatever order they come.
 */
async function listedReasons(
  ctx: SurfaceContext,
  batch: readonly Ended[],
): Promise<ReadonlyMap<string, DenylistEntry['reason']>> {
  try {
    const entries = await ctx.denylist.find(
      batch.map(({ id }) => sessionDenylistId(ctx.surface, id)),
    )
    return new Map(entries.map(({ id, reason }) => [id, reason]))
  } catch {
    // Only the name of the ending is at stake, and not whether there is one.
    return new Map()
  }
}

/** True when this very call revoked the family. */
async function revoke(
  ctx: SurfaceContext,
  { id }: Ended,
  reason: EndReason,
  now: number,
): Promise<boolean> {
  const set = { revokedAt: now, revokedReason: reason }
  try {
    const ended = await ctx.collections.families.update(id, { revokedAt: null }, set)
    return ended !== null
  } catch (error) {
    if (await isRevokedBy(ctx, id, set)) return true
    await extendDenylistEntry(ctx, id, reason, now)
    throw error
  }
}

/** The answer was lost: the row shows whether the write took effect. */
async function isRevokedBy(
  ctx: SurfaceContext,
  id: string,
  set: Pick<RefreshFamily, 'revokedAt' | 'revokedReason'>,
): Promise<boolean> {
  try {
    const row = await ctx.collections.families.get(id)
    return row?.revokedAt === set.revokedAt && row.revokedReason === set.revokedReason
  } catch {
    return false
  }
}

/**
 * The family stays live in its row: if no later request finishes, the entry must outlast it. Its
 * deadline cannot move any more, since it is on the list.
 */
async function extendDenylistEntry(
  ctx: SurfaceContext,
  id: string,
  reason: EndReason,
  now: number,
): Promise<void> {
  try {
    await ctx.denylist.put([entryOf(ctx, id, reason, now + ctx.idleMs + denylistLifeMs)])
  } catch (error) {
    ctx.logger.error('an ending was begun and could not be finished', describeError(error))
  }
}

/** Denylist first, for all of them at once. Resolves with why those were ended that were on it before. */
async function list(
  ctx: SurfaceContext,
  batch: readonly Ended[],
  reason: EndReason,
): Promise<ReadonlyMap<string, DenylistEntry['reason']>> {
  const expiresAt = ctx.clock.now() + denylistLifeMs
  const [listed] = await Promise.all([
    listedReasons(ctx, batch),
    ctx.denylist.put(batch.map(({ id }) => entryOf(ctx, id, reason, expiresAt))),
  ])
  return listed
}

/** An ending over the maximum age that was interrupted is finished as what it is. */
function asBegun(
  ctx: SurfaceContext,
  { id }: Ended,
  listed: ReadonlyMap<string, DenylistEntry['reason']>,
  given: Manner,
): Manner {
  return listed.get(sessionDenylistId(ctx.surface, id)) === 'max_age'
    ? { ...given, reason: 'max_age', actorId: null }
    : given
}

/** The steps after the denylist. */
async function finish(
  ctx: SurfaceContext,
  session: Ended,
  {
    reason,
    source,
    actorId = isOwnAct(reason) ? session.userId : null,
    onEnded,
    refreshRowMissing,
  }: Manner,
): Promise<boolean> {
  const { id: sessionId, userId } = session
  const now = ctx.clock.now()
  const emitTerminated = (): void => {
    const facts = { at: now, userId, sessionId, reason, actorId }
    ctx.emit('session.terminated', source, facts)
    onEnded?.()
  }
  const revoked = await revoke(ctx, session, reason, now)
  if (revoked) emitTerminated()
  const closed = await closeDocument(ctx, sessionId, reason)
  if (revoked || !closed || refreshRowMissing !== true) return revoked
  emitTerminated()
  return true
}

/**
 * The last of the three steps alone, for a session whose first two are known to be done. True for
 * the caller that did it.
 */
export async function closeDocument(
  ctx: SurfaceContext,
  sessionId: string,
  reason: EndReason,
): Promise<boolean> {
  const closed = await ctx.collections.sessions.update(
    sessionId,
    { active: true },
    { active: false, endedAt: ctx.clock.now(), endReason: reason },
  )
  return closed !== null
}

/** Ends them beside each other; true for each that this call ended. One that fails keeps back no other. */
async function endTogether(
  ctx: SurfaceContext,
  batch: readonly Ended[],
  reason: EndReason,
  source: RequestSource,
  options: EndingOptions = {},
): Promise<readonly boolean[]> {
  const listed = await list(ctx, batch, reason)
  const given = { ...options, reason, source }
  return allTried(batch.map((one) => finish(ctx, one, asBegun(ctx, one, listed, given))))
}

/**
 * Ends one session for a reason that `judge` finds out while it is being listed; `ended` is true for the
 * caller that ended it. Where `judge` fails, nothing more is done, and the session stays listed for as
 * long as its row lives.
 */
export async function endJudged<J extends Judgement>(
  ctx: SurfaceContext,
  session: Ended,
  source: RequestSource,
  judge: () => Promise<J>,
): Promise<{ readonly ended: boolean; readonly judgement: J }> {
  const [listing, judged] = await Promise.allSettled([list(ctx, [session], 'logout'), judge()])
  const listed = unwrapSettled(listing)
  if (judged.status === 'rejected')
    await extendDenylistEntry(ctx, session.id, 'logout', ctx.clock.now())
  const judgement = unwrapSettled(judged)
  const ended = await finish(ctx, session, asBegun(ctx, session, listed, { ...judgement, source }))
  return { ended, judgement }
}

/** Endings that follow from what the owner did: showed a credential, or set a password. */
function isOwnAct(reason: EndReason): boolean {
  return reason === 'logout' || reason === 'password_change' || reason === 'factor_change'
}

// Wrong guesses at one kind of secret within each session. They are counted for the session alone, so a
// stolen one keeps its owner out of nothing.

/** The session of a user in which a secret of this kind is asked for. */
export interface GuessingSession {
  readonly counter: 'passwordFailuresOfSession' | 'factorFailuresOfSession'
  readonly userId: string
  readonly sessionId: string
}

/** Filled for a session whose guesses are used up: an ending that fails is made good by the next guess. */
const usedUp = 'sessionsUsedUp'
const mark = { limit: 20, windowMs: 24 * 60 * 60 * 1000 }

/** Not of a session whose right secret was sent twice, so that the second one is refused beside the first. */
async function isMarked(ctx: SurfaceContext, sessionId: string): Promise<boolean> {
  try {
    await ctx.limits.checkWith(usedUp, sessionId, mark)
  } catch (error) {
    if (error instanceof AuthError && error.code === 'rate_limited') return true
    throw error
  }
  await ctx.limits.forgive(usedUp, sessionId, 1)
  return false
}

/**
 * Wrong guesses at one kind of secret are counted for the session alone, so that a stolen one keeps its owner out of
 * nothing. Runs a check of a secret as `attemptGuess` does. The wrong guess that reaches the limit ends the
 * session, and the caller still gets the result of it. Throws `rate_limited` for later guesses.
 */
export async function attemptInSession<T extends { readonly ok: boolean }>(
  ctx: SurfaceContext,
  { counter, userId, sessionId }: GuessingSession,
  check: (failedBefore: number) => Promise<T>,
  source: RequestSource,
): Promise<T> {
  let isOver = false
  try {
    return await attemptGuess(ctx, { counter, subject: sessionId }, check, () => {
      isOver = true
    })
  } catch (error) {
    const isLimited = error instanceof AuthError && error.code === 'rate_limited'
    isOver = isLimited && (await isMarked(ctx, sessionId))
    throw error
  } finally {
    if (isOver) {
      await ctx.limits.close(usedUp, sessionId, mark)
      await endSession(ctx, { id: sessionId, userId }, 'guesses', source)
    }
  }
}

/**
 * Once this resolves, no refresh family opened before can be refreshed. Sparing a session of an
 * earlier call ends with this one. Trusted devices of before are trusted no more. Null when the
 * user is gone.
 */
export function raiseSessionEpoch(users: Collection<User>, userId: string): Promise<User | null> {
  return retryOnConflict(10, async () => {
    const user = await users.get(userId)
    if (user === null) return null
    const { sessionEpoch, deviceEpoch } = user
    const raised = await users.update(
      userId,
      { sessionEpoch, deviceEpoch },
      { sessionEpoch: sessionEpoch + 1, deviceEpoch: deviceEpoch + 1, ...sparesNone },
    )
    return raised ?? conflict
  })
}
