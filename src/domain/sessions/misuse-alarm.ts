import type { RefreshClaims } from '../../crypto/tokens.js'
import type { RefreshDecision } from '../../engine/refresh-rules.js'
import { AuthError } from '../../errors/index.js'
import type { RefreshFamily } from '../../model/sessions.js'
import type { EndReason } from '../../ports/events.js'
import type { RequestSource } from '../../ports/surface.js'
import { denylistLifeMs } from '../context/denylist-entries.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { RateLimiter } from '../limits/rate-limiter.js'

/** The alarm over a refresh token that was used although it had been retired, or was never minted. */
export interface MisuseAlarm {
  /** Raises it where the decision says misuse, and does nothing otherwise. */
  emit(
    shown: { readonly claims: RefreshClaims; readonly source: RequestSource },
    found: {
      readonly family: RefreshFamily | null
      readonly decision: RefreshDecision<EndReason>
    },
  ): void
  /**
   * A request with the newest token, between the steps of a replay's ending, finishes that ending and
   * cannot know its reason. The alarm is still owed, by one of the requests that saw the replay: true for
   * one of them.
   */
  isOwed(sessionId: string): Promise<boolean>
}

type Deps = Pick<SurfaceContext, 'collections' | 'emit'> & { readonly limits: RateLimiter }

/** Longer than a request that saw the row live can take. */
const onceWhileListed = { limit: 1, windowMs: denylistLifeMs }

export function createMisuseAlarm({ collections, emit, limits }: Deps): MisuseAlarm {
  return {
    emit({ claims, source }, { family, decision: { outcome } }) {
      if (outcome !== 'replay' && outcome !== 'rolledBack') return
      emit(outcome === 'replay' ? 'refresh.replayDetected' : 'refresh.storeRolledBack', source, {
        userId: claims.sub,
        sessionId: claims.sid,
        presentedGeneration: claims.gen,
        currentGeneration: family?.generation ?? 0,
      })
    },

    async isOwed(sessionId) {
      const family = await collections.families.get(sessionId)
      const reason = family?.revokedReason ?? 'replay'
      if (reason === 'replay' || reason === 'max_age') return false
      try {
        await limits.checkWith('replayAlarm', sessionId, onceWhileListed)
        return true
      } catch (error) {
        if (error instanceof AuthError && error.code === 'rate_limited') return false
        throw error
      }
    },
  }
}
