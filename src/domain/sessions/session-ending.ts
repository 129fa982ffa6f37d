import { allTried, settledValue } from '../../concurrency/promises.js'
import { describeError } from '../../errors/index.js'
import type { RefreshFamily } from '../../model/sessions.js'
import type { DenylistEntry } from '../../ports/backend.js'
import type { EndReason } from '../../ports/events.js'
import type { RequestSource } from '../../ports/surface.js'
import { denylistLifeMs, sessionDenylistId } from '../context/denylist-entries.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { isOwnAct } from './is-own-act.js'

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

/** The three steps in which a session ends, denylist first; each may be repeated. */
export interface SessionEnding {
  /** Ends them beside each other; true for each that this call ended. One that fails keeps back no other. */
  endTogether(
    sessions: readonly Ended[],
    reason: EndReason,
    source: RequestSource,
    options?: EndingOptions,
  ): Promise<readonly boolean[]>
  /**
   * Ends one session for a reason that `judge` finds out while it is being listed; `ended` is true for the
   * caller that ended it. Where `judge` fails, nothing more is done, and the session stays listed for as
   * long as its row lives.
   */
  endJudged<J extends Judgement>(
    session: Ended,
    source: RequestSource,
    judge: () => Promise<J>,
  ): Promise<{ readonly ended: boolean; readonly judgement: J }>
  /**
   * The last of the three steps alone, for a session whose first two are known to be done. True for
   * the caller that did it.
   */
  closeDocument(sessionId: string, reason: EndReason): Promise<boolean>
}

export type EndingDeps = Pick<
  SurfaceContext,
  'surface' | 'collections' | 'denylist' | 'clock' | 'idleMs' | 'emit' | 'logger'
>

export function createSessionEnding(deps: EndingDeps): SessionEnding {
  const { surface, denylist, clock } = deps
  const { sessions, families } = deps.collections

  const entryOf = (id: string, reason: EndReason, expiresAt: number): DenylistEntry => ({
    id: sessionDenylistId(surface, id),
    reason: reason === 'max_age' ? 'max_age' : 'revoked',
    expiresAt,
  })

  /**
   * Why sessions are on the denylist, by id; nothing of those that are not, or where that cannot be
   * known. It is asked beside the write and so costs no time: the first reason stays, in whatever order they come.
   */
  async function listedReasons(
    batch: readonly Ended[],
  ): Promise<ReadonlyMap<string, DenylistEntry['reason']>> {
    try {
      const entries = await denylist.find(batch.map(({ id }) => sessionDenylistId(surface, id)))
      return new Map(entries.map(({ id, reason }) => [id, reason]))
    } catch {
      // Only the name of the ending is at stake, and not whether there is one.
      return new Map()
    }
  }

  /** True when this very call revoked the family. */
  async function revoke({ id }: Ended, reason: EndReason, now: number): Promise<boolean> {
    const set = { revokedAt: now, revokedReason: reason }
    try {
      const ended = await families.update(id, { revokedAt: null }, set)
      return ended !== null
    } catch (error) {
      if (await isRevokedBy(id, set)) return true
      await extendDenylistEntry(id, reason, now)
      throw error
    }
  }

  /** The answer was lost: the row shows whether the write took effect. */
  async function isRevokedBy(
    id: string,
    set: Pick<RefreshFamily, 'revokedAt' | 'revokedReason'>,
  ): Promise<boolean> {
    try {
      const row = await families.get(id)
      return row?.revokedAt === set.revokedAt && row.revokedReason === set.revokedReason
    } catch {
      return false
    }
  }

  /**
   * The family stays live in its row: if no later request finishes, the entry must outlast it. Its
   * deadline cannot move any more, since it is on the list.
   */
  async function extendDenylistEntry(id: string, reason: EndReason, now: number): Promise<void> {
    try {
      await denylist.put([entryOf(id, reason, now + deps.idleMs + denylistLifeMs)])
    } catch (error) {
      deps.logger.error('an ending was begun and could not be finished', describeError(error))
    }
  }

  /** Denylist first, for all of them at once. Resolves with why those were ended that were on it before. */
  async function list(
    batch: readonly Ended[],
    reason: EndReason,
  ): Promise<ReadonlyMap<string, DenylistEntry['reason']>> {
    const expiresAt = clock.now() + denylistLifeMs
    const [listed] = await Promise.all([
      listedReasons(batch),
      denylist.put(batch.map(({ id }) => entryOf(id, reason, expiresAt))),
    ])
    return listed
  }

  /** An ending over the maximum age that was interrupted is finished as what it is. */
  const asBegun = (
    { id }: Ended,
    listed: Awaited<ReturnType<typeof list>>,
    given: Manner,
  ): Manner =>
    listed.get(sessionDenylistId(surface, id)) === 'max_age'
      ? { ...given, reason: 'max_age', actorId: null }
      : given

  /** The steps after the denylist. */
  async function finish(
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
    const now = clock.now()
    const emitTerminated = (): void => {
      const facts = { at: now, userId, sessionId, reason, actorId }
      deps.emit('session.terminated', source, facts)
      onEnded?.()
    }
    const revoked = await revoke(session, reason, now)
    if (revoked) emitTerminated()
    const closed = await closeDocument(sessionId, reason)
    if (revoked || !closed || refreshRowMissing !== true) return revoked
    emitTerminated()
    return true
  }

  async function closeDocument(sessionId: string, reason: EndReason): Promise<boolean> {
    const closed = await sessions.update(
      sessionId,
      { active: true },
      { active: false, endedAt: clock.now(), endReason: reason },
    )
    return closed !== null
  }

  return {
    closeDocument,

    async endTogether(batch, reason, source, options = {}) {
      const listed = await list(batch, reason)
      const given = { ...options, reason, source }
      return allTried(batch.map((one) => finish(one, asBegun(one, listed, given))))
    },

    async endJudged(session, source, judge) {
      const [listing, judged] = await Promise.allSettled([list([session], 'logout'), judge()])
      const listed = settledValue(listing)
      if (judged.status === 'rejected') await extendDenylistEntry(session.id, 'logout', clock.now())
      const judgement = settledValue(judged)
      const ended = await finish(session, asBegun(session, listed, { ...judgement, source }))
      return { ended, judgement }
    },
  }
}
