import { withTimeout } from '../../concurrency/with-timeout.js'
import { describeError } from '../../errors/index.js'
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
import type { KnownLogins } from './known-logins.js'

/** A login to be judged: what the scorer is asked, but for what is known here. */
export type LoginInQuestion = Pick<
  RiskQuestion,
  'method' | 'mfaMethod' | 'deviceId' | 'failedAttempts' | 'history'
>

/** What a login is thought of, and whether its owner is notified once it is a session. */
export interface JudgedLogin extends RiskAssessment {
  readonly isNotified: boolean
  readonly isMailed: boolean
  readonly login: PastLogin
}

/** Judges logins before they are sessions and notifies their owners of unusual ones. */
export interface LoginRisk {
  /** The last ninety days of an account, one login for each device and network, newest first. */
  historyOf(userId: string): Promise<readonly PastLogin[]>
  /** Never rejects for the scorer's sake: one that fails counts as `high`. */
  judge(user: User, login: LoginInQuestion, source: RequestSource): Promise<JudgedLogin>
  /** What follows, once the session is opened: it is remembered, and its owner is told. */
  notify(session: OpenedSession, judged: JudgedLogin, source: RequestSource): void
}

interface Deps extends Pick<SurfaceContext, 'surface' | 'clock' | 'settings' | 'emit' | 'logger'> {
  readonly knownLogins: KnownLogins
  readonly mail: MailService
  readonly riskScorer: RiskScorer
}

/** How long the scorer may think. */
const timeoutMs = 2000

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
    historyOf: (userId) => deps.knownLogins.of(userId),

    async judge(user, login, source) {
      const { notifyNewDevice } = await deps.settings()
      const at = clock.now()
      const assessment = await ask({ surface, userId: user.id, at, ...source, ...login })
      const { method, mfaMethod, deviceId } = login
      // A first login has no other device to compare with.
      const isNotified = assessment.level !== 'low' && user.lastLoginAt !== null
      return {
        ...assessment,
        isNotified,
        isMailed: isNotified && notifyNewDevice,
        login: { at, ...source, method, mfaMethod, deviceId },
      }
    },

    notify({ user, sessionId }, { signals, isNotified, isMailed, login }, source) {
      deps.knownLogins.remember(user.id, login)
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
