import { withTimeout } from '../../concurrency/promises.js'
import { fewPerWindow } from '../../engine/limits.js'
import { changedPlaces } from '../../engine/login-risk-rules.js'
import { AuthError, describeError } from '../../errors/index.js'
import type { RefreshFamily } from '../../model/sessions.js'
import type { User } from '../../model/user.js'
import type {
  SessionChange,
  SessionRiskOutcome,
  SessionRiskQuestion,
  SessionRiskScorer,
} from '../../ports/risk-scorers.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { isVoidProof, voidProof } from '../context/void-proof.js'
import { markOf } from './client-digest.js'
import type { Attempt, RefreshReading } from './refresh-reading.js'
import type { SessionTermination } from './session-termination.js'

/**
 * Has the host's scorer judge a session that shows up in another network or with another user agent than at its last
 * refresh. All of it comes before anything is consumed, and throws `session_revoked` after it ended the session.
 */
export interface RefreshRisk {
  /** A refresh; `mark` is what the rotation would write of this client. */
  requireRefresh(attempt: Attempt, user: User, mark: string): Promise<void>
  /** `GET session`, of a row that was found usable. */
  requireView(attempt: Attempt, family: RefreshFamily): Promise<void>
  /** `sessionOf`, of the same: false where `GET session` would end the session. It ends nothing itself. */
  isUsual(attempt: Attempt, family: RefreshFamily): Promise<boolean>
}

interface Deps
  extends Pick<SurfaceContext, 'surface' | 'collections' | 'clock' | 'emit' | 'logger'> {
  readonly scorer: SessionRiskScorer
}

interface Verdict {
  readonly outcome: SessionRiskOutcome
  readonly changed: readonly SessionChange[]
  /** False for a scorer that gave no answer. */
  readonly assessed: boolean
}

/** How long the scorer may think, as at a login. */
const timeoutMs = 2000
const hourMs = 60 * 60 * 1000
/** Page loads are many: for so long one of them stands for the next. */
const viewsMs = 60 * 1000

/** A holder of a token names user agents as they like: what a session is told of is bounded. */
const mostPerSession = 8

const outcomes: readonly SessionRiskOutcome[] = ['none', 'stepUp', 'end']

export function createRefreshRisk(
  deps: Deps,
  reading: Pick<RefreshReading, 'readRow'>,
  termination: Pick<SessionTermination, 'end'>,
): RefreshRisk {
  const { surface, clock, scorer } = deps
  const { sessions, stepUpProofs } = deps.collections
  const isNews = fewPerWindow(mostPerSession, hourMs)
  const views = recent()

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

  async function judge(
    { claims, source }: Attempt,
    { rotatedBy }: RefreshFamily,
    mark: string,
  ): Promise<Verdict> {
    const changed = changedPlaces(rotatedBy, mark)
    if (changed.length === 0) return { outcome: 'none', changed, assessed: true }
    const { sub: userId, sid: sessionId } = claims
    const about = { surface, userId, sessionId, at: clock.now(), ...source, changed }
    const answered = await ask({ ...about, login: await loginOf(sessionId) })
    return { outcome: answered ?? 'stepUp', changed, assessed: answered !== null }
  }

  /** A void proof that is there stays: for a moment without it, the login would count as recent again. */
  async function voidProofs(sessionId: string, userId: string): Promise<void> {
    const proof = voidProof(sessionId, userId, clock.now())
    if (await stepUpProofs.insert(proof)) return
    if (isVoidProof(await stepUpProofs.get(sessionId))) return
    await stepUpProofs.take(sessionId)
    await stepUpProofs.insert(proof)
  }

  /** What follows of a verdict, and then its event: a client that alternates between two places leaves one an hour. */
  async function follow(
    attempt: Attempt,
    mark: string,
    { outcome, changed, assessed }: Verdict,
  ): Promise<void> {
    if (outcome === 'none') return
    const { claims, source } = attempt
    const { sub: userId, sid: sessionId } = claims
    const isEnd = outcome === 'end'
    if (isEnd) await termination.end({ id: sessionId, userId }, 'risk', source)
    else await voidProofs(sessionId, userId)
    const key = JSON.stringify([mark, outcome, assessed])
    // A session ends once.
    if (isEnd || isNews(sessionId, key, clock.now())) {
      deps.emit('refresh.unusual', source, { userId, sessionId, changed, outcome, assessed })
    }
    if (isEnd) throw new AuthError('session_revoked')
  }

  function markOfView({ claims, source }: Attempt): string {
    return markOf(claims.sub, source, null, true)
  }

  /** Asks nothing about a place that was found usual a moment ago, by the same row. */
  async function judgeView(
    attempt: Attempt,
    family: RefreshFamily,
    mark: string,
  ): Promise<Verdict> {
    const key = JSON.stringify([attempt.claims.sid, family.rotatedBy, mark])
    if (views.has(key, clock.now())) return { outcome: 'none', changed: [], assessed: true }
    const verdict = await judge(attempt, family, mark)
    if (verdict.outcome === 'none' && verdict.changed.length > 0) views.add(key, clock.now())
    return verdict
  }

  return {
    async requireRefresh(attempt, user, mark) {
      const { family, decision } = await reading.readRow(attempt, user)
      const isRefused = decision.outcome !== 'current' && decision.outcome !== 'reissue'
      if (family === null || isRefused) return
      await follow(attempt, mark, await judge(attempt, family, mark))
    },

    async requireView(attempt, family) {
      const mark = markOfView(attempt)
      await follow(attempt, mark, await judgeView(attempt, family, mark))
    },

    async isUsual(attempt, family) {
      const mark = markOfView(attempt)
      const verdict = await judgeView(attempt, family, mark)
      if (verdict.outcome === 'end') return false
      await follow(attempt, mark, verdict)
      return true
    },
  }
}

/** What was added less than a minute ago, up to so many. */
function recent(capacity = 10_000) {
  const added = new Map<string, number>()
  return {
    has(key: string, now: number): boolean {
      const at = added.get(key)
      return at !== undefined && now >= at && now < at + viewsMs
    },
    add(key: string, now: number): void {
      added.delete(key)
      added.set(key, now)
      const oldest = added.keys().next()
      if (added.size > capacity && !oldest.done) added.delete(oldest.value)
    },
  }
}
