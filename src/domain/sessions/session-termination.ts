import { allTried } from '../../concurrency/all-tried.js'
import { batchesOf } from '../../concurrency/batches-of.js'
import { describeError } from '../../errors/index.js'
import type { RefreshFamily } from '../../model/refresh-family.js'
import type { Session } from '../../model/session.js'
import type { DenylistEntry } from '../../ports/denylist.js'
import type { RequestSource } from '../../ports/request-source.js'
import type { EndReason } from '../../ports/session-event.js'
import { newestFirst } from '../../stores/newest-first.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { isOwnAct } from './is-own-act.js'

/** Sessions ended beside each other: others share the database meanwhile. */
const atOnce = 20

/** 24 h covers the longest access token, one minute the largest clock leeway. */
export const denylistLifeMs = 24 * 60 * 60 * 1000 + 60 * 1000

export interface EndingOptions {
  /** The actor, if not the owner. Default: the owner where the reason says so, else null. */
  readonly actorId?: string | null
  /** Called at once by the call that ended it, whatever fails afterwards. */
  readonly onEnded?: () => void
  /** Its family row was swept: who closes the document is who ended it. */
  readonly refreshRowMissing?: true
}

type Ended = Pick<RefreshFamily, 'id' | 'userId'>

export interface SessionTermination {
  /**
   * Ends one session in three repeatable steps, denylist first, so that a crash at any point
   * leaves it refused and the next attempt completes. True for the caller that ended it.
   */
  end(
    session: Ended,
    reason: EndReason,
    source: RequestSource,
    options?: EndingOptions,
  ): Promise<boolean>
  /**
   * The last of the three steps alone, for a session whose first two are known to be done. True for
   * the caller that did it.
   */
  closeDocument(sessionId: string, reason: EndReason): Promise<boolean>
  /**
   * Ends those of a user's sessions that `which` picks, twenty beside each other, and completes what an
   * earlier call left undone. One that fails keeps back none of its twenty.
   */
  endThose(
    which: WhichSessions,
    reason: EndReason,
    source: RequestSource,
    options?: Pick<EndingOptions, 'actorId'>,
  ): Promise<void>
  /**
   * Ends every session of a user whose `sessionEpoch` was just raised, but for `except`, and completes
   * what an earlier call left undone. Call only after the user was written: from then on no older
   * family can be refreshed.
   */
  endAll(
    userId: string,
    reason: EndReason,
    source: RequestSource,
    options?: { readonly except?: string } & Pick<EndingOptions, 'actorId'>,
  ): Promise<void>
  /** Ends what is beyond the newest `limit` live sessions of a user. */
  trim(userId: string, limit: number, source: RequestSource): Promise<void>
}

export interface WhichSessions {
  readonly userId: string
  /** Asked for each row that was not revoked. */
  family(family: RefreshFamily): boolean
  /** Asked for each session that is active and has no row: it was swept, or is yet to be written. */
  rowless(session: Session): boolean
}

type Deps = Pick<
  SurfaceContext,
  'surface' | 'collections' | 'denylist' | 'clock' | 'idleMs' | 'emit' | 'logger'
>

export function createSessionTermination(deps: Deps): SessionTermination {
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
  async function endBatch(
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

  /** A user's families that were not revoked, newest first; notes each, and why the others were. */
  async function* liveFamilies(
    userId: string,
    known: Map<string, EndReason | null>,
  ): AsyncGenerator<RefreshFamily> {
    for await (const family of newestFirst(families, { userId })) {
      const isLive = family.revokedAt === null
      known.set(family.id, isLive ? null : (family.revokedReason ?? 'admin'))
      if (isLive) yield family
    }
  }

  /** What is active still was interrupted before its last step, or its row is not there. */
  async function* activeDocuments(userId: string, oldest = ''): AsyncGenerator<Session> {
    for await (const one of newestFirst(sessions, { userId })) {
      if (one.id < oldest) return
      if (one.active) yield one
    }
  }

  async function endThose(
    which: WhichSessions,
    reason: EndReason,
    source: RequestSource,
    options: Pick<EndingOptions, 'actorId'> = {},
  ): Promise<void> {
    const { userId } = which
    const known = new Map<string, EndReason | null>()
    // Also the idle-expired: `GET session` may have minted a token just before the deadline.
    for await (const batch of batchesOf(liveFamilies(userId, known), atOnce)) {
      const those = batch.filter((family) => which.family(family))
      if (those.length > 0) await endBatch(those, reason, source, options)
    }
    for await (const batch of batchesOf(activeDocuments(userId), atOnce)) {
      await closeKnown(batch, known)
      const those = batch.filter((session) => !known.has(session.id) && which.rowless(session))
      const rowless = { ...options, refreshRowMissing: true } as const
      if (those.length > 0) await endBatch(those, reason, source, rowless)
    }
  }

  async function closeKnown(
    batch: readonly Session[],
    known: ReadonlyMap<string, EndReason | null>,
  ): Promise<void> {
    await allTried(
      batch.map(async ({ id }) => {
        const reason = known.get(id) ?? null
        if (reason !== null) await closeDocument(id, reason)
      }),
    )
  }

  return {
    async end(session, reason, source, options) {
      const [ended = false] = await endBatch([session], reason, source, options)
      return ended
    },

    closeDocument,
    endThose,

    async endAll(userId, reason, source, { except, ...options } = {}) {
      const isOther = ({ id }: Ended) => id !== except
      await endThose({ userId, family: isOther, rowless: isOther }, reason, source, options)
    },

    async trim(userId, limit, source) {
      let live = 0
      const known = new Map<string, EndReason | null>()
      for await (const batch of batchesOf(liveFamilies(userId, known), atOnce)) {
        const beyond = batch.filter(({ expiresAt }) => {
          if (expiresAt <= clock.now()) return false
          live += 1
          return live > limit
        })
        if (beyond.length > 0) await endBatch(beyond, 'limit', source)
      }
      if (live <= limit) return
      // A login cut short while it trimmed left endings undone: the next one is over the limit too. Of
      // older documents than the oldest row there may be very many, and none is to be put right here.
      const documents = activeDocuments(userId, [...known.keys()].at(-1))
      for await (const batch of batchesOf(documents, atOnce)) await closeKnown(batch, known)
    },
  }
}

export function sessionDenylistId(surface: string, sessionId: string): string {
  return `${surface}:session:${sessionId}`
}

export function tokenDenylistId(surface: string, jti: string): string {
  return `${surface}:token:${jti}`
}
