import { withTimeout } from '../../concurrency/with-timeout.js'
import { describeError } from '../../errors/index.js'
import { sessionRetentionMs } from '../../model/session.js'
import type { User } from '../../model/user.js'
import type { RequestSource } from '../../ports/request-source.js'
import type {
  PastLogin,
  RiskAssessment,
  RiskQuestion,
  RiskScorer,
  RiskSignal,
} from '../../ports/risk-scorer.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { MailService } from '../mail/mail-service.js'
import type { OpenedSession } from '../sessions/sessions.js'

/** A login to be judged: what the scorer is asked, but for what is known here. */
export type LoginInQuestion = Pick<
  RiskQuestion,
  'method' | 'mfaMethod' | 'deviceId' | 'failedAttempts' | 'history'
>

/** What a login is thought of, and whether its owner is notified once it is a session. */
export interface JudgedLogin extends RiskAssessment {
  readonly isNotified: boolean
  readonly isMailed: boolean
}

/** Judges logins before they are sessions and notifies their owners of unusual ones. */
export interface LoginRisk {
  /** The last ninety days of an account. */
  historyOf(userId: string): Promise<readonly PastLogin[]>
  /** Never rejects for the scorer's sake: one that fails counts as `high`. */
  judge(user: User, login: LoginInQuestion, source: RequestSource): Promise<JudgedLogin>
  /** What follows, once the session is opened. */
  notify(session: OpenedSession, judged: JudgedLogin, source: RequestSource): void
}

interface Deps
  extends Pick<
    SurfaceContext,
    'surface' | 'collections' | 'clock' | 'settings' | 'emit' | 'logger'
  > {
  readonly mail: MailService
  readonly riskScorer: RiskScorer
}

/** How long the scorer may think. */
const timeoutMs = 2000
const mostPast = 100

const levels: readonly RiskAssessment['level'][] = ['low', 'elevated', 'high']
const known: readonly RiskSignal[] = ['newDevice', 'newNetwork', 'failedAttempts', 'unassessed']

export function createLoginRisk(deps: Deps): LoginRisk {
  const { surface, clock } = deps

  async function ask(question: RiskQuestion): Promise<RiskAssessment> {
    try {
      const answer: unknown = await withTimeout(deps.riskScorer.assess(question), timeoutMs, clock)
      const level = levels.find((one) => one === memberOf(answer, 'level'))
      const signals = memberOf(answer, 'signals')
      if (level === undefined || !Array.isArray(signals)) throw new TypeError('no assessment')
      // Of the host's words only those of the list: they go into events and records.
      return { level, signals: known.filter((signal) => signals.includes(signal)) }
    } catch (cause) {
      deps.logger.error('the risk scorer failed', describeError(cause))
      return { level: 'high', signals: ['unassessed'] }
    }
  }

  return {
    async historyOf(userId) {
      const page = { limit: mostPast, newestFirst: true } as const
      const since = clock.now() - sessionRetentionMs
      const found = await deps.collections.sessions.find({ userId }, page)
      return found
        .filter(({ loginAt }) => loginAt > since)
        .map(({ loginAt, ip, userAgent, deviceId, loginMethod, mfaMethod }) => ({
          at: loginAt,
          ip,
          userAgent,
          deviceId,
          method: loginMethod,
          mfaMethod,
        }))
    },

    async judge(user, login, source) {
      const { notifyNewDevice } = await deps.settings()
      const about = { surface, userId: user.id, at: clock.now(), ...source }
      const assessment = await ask({ ...about, ...login })
      // A first login has no other device to compare with.
      const isNotified = assessment.level !== 'low' && user.lastLoginAt !== null
      return { ...assessment, isNotified, isMailed: isNotified && notifyNewDevice }
    },

    notify({ user, sessionId }, { signals, isNotified, isMailed }, source) {
      if (!isNotified) return
      const at = clock.now()
      deps.emit('login.newDevice', source, { at, userId: user.id, sessionId, signals })
      if (isMailed) deps.mail.newDevice(user, { at, ...source })
    },
  }
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
