import { describeError } from '../../errors/index.js'
import type { RefreshFamily } from '../../model/refresh-family.js'
import type { Session } from '../../model/session.js'
import type { DenylistEntry } from '../../ports/denylist.js'
import type { RequestSource } from '../../ports/request-source.js'
import type { EndReason } from '../../ports/session-event.js'
import { newestFirst } from '../../stores/newest-first.js'
import type { SurfaceContext } from '../context/surface-context.js'

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
   * Why a session is on the denylist; null where it is not, or that cannot be known. Asked beside the
   * write and so costs no time: the first reason stays, whichever comes first.
   */
  async function listedReason(sessionId: string): Promise<DenylistEntry['reason'] | null> {
    const id = sessionDenylistId(surface, sessionId)
    try {
      const entries = await denylist.find([id])
      return entries.find((entry) => entry.id === id)?.reason ?? null
    } catch {
      // Only the name of the ending is at stake, and not whether there is one.
      return null
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

  async function end(
    session: Ended,
    given: EndReason,
    source: RequestSource,
    {
      actorId: endedBy = isOwnAct(given) ? session.userId : null,
      onEnded,
      refreshRowMissing,
    }: EndingOptions = {},
  ): Promise<boolean> {
    const { id: sessionId, userId } = session
    const now = clock.now()
    const [listed] = await Promise.all([
      listedReason(sessionId),
      denylist.put([entryOf(sessionId, given, now + denylistLifeMs)]),
    ])
    // An ending over the maximum age that was interrupted is finished as what it is.
    const isMaxAge = listed === 'max_age'
    const reason = isMaxAge ? listed : given
    const actorId = isMaxAge ? null : endedBy
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

  /** Visits a user's families that were not revoked, newest first; the reasons of the others. */
  async function eachFamily(
    userId: string,
    visit: (family: RefreshFamily) => Promise<unknown>,
  ): Promise<ReadonlyMap<string, EndReason>> {
    const reasons = new Map<string, EndReason>()
    for await (const family of newestFirst(families, { userId })) {
      if (family.revokedAt === null) await visit(family)
      else reasons.set(family.id, family.revokedReason ?? 'admin')
    }
    return reasons
  }

  const activeDocuments = (userId: string): AsyncGenerator<Session> =>
    newestFirst(sessions, { userId, active: true })

  return {
    end,
    closeDocument,

    async endAll(userId, reason, source, { except, ...options } = {}) {
      // Also the idle-expired: `GET session` may have minted a token just before the deadline.
      const reasons = await eachFamily(userId, async (family) => {
        if (family.id !== except) await end(family, reason, source, options)
      })
      // What is active still was interrupted before its last step, or its row was swept.
      for await (const { id } of activeDocuments(userId)) {
        const known = reasons.get(id)
        if (known !== undefined) await closeDocument(id, known)
        else if (id !== except) {
          await end({ id, userId }, reason, source, { ...options, refreshRowMissing: true })
        }
      }
    },

    async trim(userId, limit, source) {
      let live = 0
      const reasons = await eachFamily(userId, async (family) => {
        if (family.expiresAt <= clock.now()) return
        live += 1
        if (live > limit) await end(family, 'limit', source)
      })
      if (live <= limit) return
      // A login cut short while it trimmed left endings undone: the next one is over the limit too.
      for await (const { id } of activeDocuments(userId)) {
        const known = reasons.get(id)
        if (known !== undefined) await closeDocument(id, known)
      }
    },
  }
}

/** Endings that follow from what the owner did: showed a credential, or set a password. */
function isOwnAct(reason: EndReason): boolean {
  return reason === 'logout' || reason === 'password_change'
}

export function sessionDenylistId(surface: string, sessionId: string): string {
  return `${surface}:session:${sessionId}`
}

export function tokenDenylistId(surface: string, jti: string): string {
  return `${surface}:token:${jti}`
}
