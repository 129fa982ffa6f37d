import { withTimeout } from '../../concurrency/with-timeout.js'
import { changedPlaces } from '../../engine/changed-places.js'
import { AuthError, describeError } from '../../errors/index.js'
import type { User } from '../../model/user.js'
import type {
  SessionRiskOutcome,
  SessionRiskQuestion,
  SessionRiskScorer,
} from '../../ports/session-risk-scorer.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { Attempt, RefreshReading } from './refresh-reading.js'
import type { SessionTermination } from './session-termination.js'

/** Has the host's scorer judge refreshes from another network or user agent than the last one's. */
export interface RefreshRisk {
  /**
   * Before anything is consumed; `mark` is what the rotation would write of this client. Throws `session_revoked` after
   * it ended the session.
   */
  require(attempt: Attempt, user: User, mark: string): Promise<void>
}

interface Deps
  extends Pick<SurfaceContext, 'surface' | 'collections' | 'clock' | 'emit' | 'logger'> {
  readonly scorer: SessionRiskScorer
}

/** How long the scorer may think, as at a login. */
const timeoutMs = 2000

const outcomes: readonly SessionRiskOutcome[] = ['none', 'stepUp', 'end']

export function createRefreshRisk(
  deps: Deps,
  reading: Pick<RefreshReading, 'readRow'>,
  termination: Pick<SessionTermination, 'end'>,
): RefreshRisk {
  const { surface, clock, scorer } = deps
  const { sessions, stepUpProofs } = deps.collections

  /** Null for a scorer that gave no answer. */
  async function ask(question: SessionRiskQuestion): Promise<SessionRiskOutcome | null> {
    try {
      const answer: unknown = await withTimeout(scorer.assess(question), timeoutMs, clock)
      const outcome = outcomes.find((one) => one === Reflect.get(Object(answer), 'outcome'))
      if (outcome === undefined) throw new TypeError('no outcome')
      return outcome
    } catch (cause) {
      deps.logger.error('the session risk scorer failed', describeError(cause))
      return null
    }
  }

  async function loginOf(sessionId: string): Promise<SessionRiskQuestion['login']> {
    const session = await sessions.get(sessionId)
    if (session === null) return null
    const { loginAt: at, ip, userAgent, loginMethod: method, mfaMethod } = session
    return { at, ip, userAgent, method, mfaMethod }
  }

  return {
    async require(attempt, user, mark) {
      const { claims, source } = attempt
      const { family, decision } = await reading.readRow(attempt, user)
      const isRefused = decision.outcome !== 'current' && decision.outcome !== 'reissue'
      if (family === null || isRefused) return
      const changed = changedPlaces(family.rotatedBy, mark)
      if (changed.length === 0) return

      const { sub: userId, sid: sessionId } = claims
      const about = { surface, userId, sessionId, at: clock.now(), ...source, changed }
      const answered = await ask({ ...about, login: await loginOf(sessionId) })
      const outcome = answered ?? 'stepUp'
      if (outcome === 'none') return
      const facts = { userId, sessionId, changed, outcome, assessed: answered !== null }
      deps.emit('refresh.unusual', source, facts)
      if (outcome === 'stepUp') {
        await stepUpProofs.take(sessionId, { userId })
        return
      }
      await termination.end({ id: sessionId, userId }, 'risk', source)
      throw new AuthError('session_revoked')
    },
  }
}
