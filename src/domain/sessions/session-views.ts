import { oncePerWindow } from '../../engine/limits.js'
import { loginNetworkOf } from '../../engine/login-risk-rules.js'
import type { EndReason } from '../../ports/events.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { Attempt } from './refresh-reading.js'

type Viewed = Pick<Attempt, 'claims' | 'source'>

/** Tells of sessions that were looked at. Page loads are many: each is told of once an hour, by this process. */
export interface SessionViews {
  /** For a host that looks for a second user of a session, by network and user agent. */
  emitViewed(viewed: Viewed): void
  /** The next refresh ends the session for this reason; what looked at it ended nothing. */
  emitOverdue(viewed: Viewed, reason: EndReason): void
}

const windowMs = 60 * 60 * 1000

export function createSessionViews({
  emit,
  clock,
}: Pick<SurfaceContext, 'emit' | 'clock'>): SessionViews {
  const isFirst = oncePerWindow()

  function isFirstOf(what: string, { claims, source }: Viewed): boolean {
    const key = JSON.stringify([what, claims.sid, loginNetworkOf(source.ip), source.userAgent])
    return isFirst(key, windowMs, clock.now())
  }

  return {
    emitViewed(viewed) {
      const { claims, source } = viewed
      if (!isFirstOf('viewed', viewed)) return
      emit('session.viewed', source, { userId: claims.sub, sessionId: claims.sid })
    },

    emitOverdue(viewed, reason) {
      const { claims, source } = viewed
      if (!isFirstOf(reason, viewed)) return
      emit('session.overdue', source, { userId: claims.sub, sessionId: claims.sid, reason })
    },
  }
}
