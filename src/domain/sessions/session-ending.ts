import { allTried } from '../../concurrency/all-tried.js'
import { describeError } from '../../errors/index.js'
import type { RefreshFamily } from '../../model/refresh-family.js'
import type { DenylistEntry } from '../../ports/denylist.js'
import type { RequestSource } from '../../ports/request-source.js'
import type { EndReason } from '../../ports/session-event.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { denylistLifeMs, sessionDenylistId } from './denylist-entries.js'
import { isOwnAct } from './is-own-act.js'

export interface EndingOptions {
  /** The actor, if not the owner. Default: the owner where the reason says so, else null. */
  readonly actorId?: string | null
  /** Called at once by the call that ended it, whatever fails afterwards. */
  readonly onEnded?: () => void
  /** Its family row was swept: who closes the document is who ended it. */
  readonly refreshRowMissing?: true
}

/** A session to be ended. */
export type Ended = Pick<RefreshFamily, 'id' | 'userId'>

/** The three steps in which a session ends, denylist first; each may be repeated. */
export interface SessionEnding {
  /** Ends them beside each other; true for each that this call ended. One that fails keeps back no other. */
  endTogether(
    sessions: readonly Ended[],
    reason: EndReason,
    source: RequestSource,
    options?: EndingOptions,
  ): Promise<readonly boolean[]>
  /** The last of the three steps alone. True for the caller that did it. */
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
   * known. Asked beside the write and so costs no time: the first reason stays, whichever comes first.
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

  /** Denylist first, for all of them at once; what it says beside that stays their reason. */
  async function endTogether(
    batch: readonly Ended[],
    given: EndReason,
    source: RequestSource,
    options: EndingOptions = {},
  ): Promise<readonly boolean[]> {
    const now = clock.now()
    const [listed] = await Promise.all([
      listedReasons(batch),
      denylist.put(batch.map(({ id }) => entryOf(id, given, now + denylistLifeMs))),
    ])
    const isMaxAge = ({ id }: Ended) => listed.get(sessionDenylistId(surface, id)) === 'max_age'
    return allTried(
      batch.map((session) =>
        // An ending over the maximum age that was interrupted is finished as what it is.
        isMaxAge(session)
          ? finish(session, 'max_age', source, { ...options, actorId: null })
          : finish(session, given, source, options),
      ),
    )
  }

  /** The steps after the denylist. */
  async function finish(
    session: Ended,
    reason: EndReason,
    source: RequestSource,
    {
      actorId = isOwnAct(reason) ? session.userId : null,
      onEnded,
      refreshRowMissing,
    }: EndingOptions,
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

  return { endTogether, closeDocument }
}
