import { allTried, batchesOf } from '../../concurrency/promises.js'
import type { RefreshFamily, Session } from '../../model/sessions.js'
import type { EndReason } from '../../ports/events.js'
import type { RequestSource } from '../../ports/surface.js'
import { newestFirst } from '../../stores/newest-first.js'
import {
  createSessionEnding,
  type Ended,
  type EndingDeps,
  type EndingOptions,
  type SessionEnding,
} from './session-ending.js'

/** Sessions ended beside each other: others share the database meanwhile. */
const atOnce = 20
/**
 * A login writes its document and its row beside each other, so for a moment the document may be there alone. The fence
 * of that login decides: the login has a later epoch than the sessions that end here, or it is refused.
 */
const underWayMs = 60_000

export interface SessionTermination extends Pick<SessionEnding, 'endJudged' | 'closeDocument'> {
  /**
   * Ends one session in three repeatable steps, denylist first, so that a crash at any point
   * leaves it refused for as long as its entry lives, and the next attempt completes. True for the caller that ended it.
   */
  end(
    session: Ended,
    reason: EndReason,
    source: RequestSource,
    options?: EndingOptions,
  ): Promise<boolean>
  /**
   * Ends those of a user's sessions that `which` picks, twenty beside each other, and completes what an
   * earlier call left undone. One that fails keeps back none of its twenty.
   */
  endMatching(
    which: SessionSelection,
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

export interface SessionSelection {
  readonly userId: string
  /** Asked for each row that was not revoked. */
  family(family: RefreshFamily): boolean
  /** Asked for each session that is active and has no row: it was swept, or is yet to be written. */
  rowless(session: Session): boolean
}

export function createSessionTermination(deps: EndingDeps): SessionTermination {
  const { clock } = deps
  const { sessions, families } = deps.collections
  const ending = createSessionEnding(deps)
  const { endTogether, closeDocument } = ending

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

  async function endMatching(
    which: SessionSelection,
    reason: EndReason,
    source: RequestSource,
    options: Pick<EndingOptions, 'actorId'> = {},
  ): Promise<void> {
    const { userId } = which
    const known = new Map<string, EndReason | null>()
    // Also the idle-expired: `GET session` may have minted a token just before the deadline.
    for await (const batch of batchesOf(liveFamilies(userId, known), atOnce)) {
      const those = batch.filter((family) => which.family(family))
      if (those.length > 0) await endTogether(those, reason, source, options)
    }
    for await (const batch of batchesOf(activeDocuments(userId), atOnce)) {
      await closeKnown(batch, known)
      const those = batch.filter((session) => !known.has(session.id) && which.rowless(session))
      const rowless = { ...options, refreshRowMissing: true } as const
      if (those.length > 0) await endTogether(those, reason, source, rowless)
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
      const [ended = false] = await endTogether([session], reason, source, options)
      return ended
    },

    closeDocument,
    endJudged: ending.endJudged,
    endMatching,

    async endAll(userId, reason, source, { except, ...options } = {}) {
      const isOther = ({ id }: Ended) => id !== except
      const newest = clock.now() - underWayMs
      const rowless = (session: Session) => isOther(session) && session.loginAt <= newest
      await endMatching({ userId, family: isOther, rowless }, reason, source, options)
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
        if (beyond.length > 0) await endTogether(beyond, 'limit', source)
      }
      if (live <= limit) return
      // A login cut short while it trimmed left endings undone: the next one is over the limit too. There may
      // be very many documents older than the oldest row, and this puts none of them right.
      const documents = activeDocuments(userId, [...known.keys()].at(-1))
      for await (const batch of batchesOf(documents, atOnce)) await closeKnown(batch, known)
    },
  }
}
