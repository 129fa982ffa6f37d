import { withTimeout } from '../../concurrency/promises.js'
import { isAfterGuesses, scoreLogin } from '../../engine/login-risk-rules.js'
import { describeError } from '../../errors/index.js'
import type { User } from '../../model/user.js'
import type {
  PastLogin,
  RiskAssessment,
  RiskQuestion,
  RiskScorer,
  RiskSignal,
} from '../../ports/risk-scorers.js'
import type { RequestSource } from '../../ports/surface.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { SuspicionNotices } from '../mail/assemble-mail.js'
import type { MailService } from '../mail/mail-service.js'
import type { OpenedSession } from '../sessions/sessions.js'
import type { KnownLogins } from './known-logins.js'
import type { Recognition, RecognitionGrant } from './recognition.js'

/** A login to be judged: what the scorer is asked, but for what is known here. */
export type LoginInQuestion = Pick<
  RiskQuestion,
  'method' | 'mfaMethod' | 'deviceId' | 'failedAttempts' | 'history'
> & {
  /** What the browser or app sent to be known by; null without. */
  readonly recognitionId: string | null
}

/** The assessment of a login, and whether its owner is notified once it is a session. */
export interface JudgedLogin extends RiskAssessment {
  readonly isNotified: boolean
  readonly isMailed: boolean
  /** Whether the right password came after so many wrong ones that the owner is told of it. */
  readonly isAfterGuesses: boolean
  readonly login: PastLogin
  /** What it was judged by. */
  readonly history: readonly PastLogin[]
  /** For the browser or app, once the login is a session; null where recognition is off. */
  readonly recognition: RecognitionGrant | null
}

/** Judges logins before they are sessions and notifies their owners of unusual ones. */
export interface LoginRisk {
  /** The last ninety days of an account, one login for each device and network, newest first. */
  historyOf(userId: string): Promise<readonly PastLogin[]>
  /** Never rejects for the scorer's sake: one that fails counts as `high`. */
  judge(user: User, login: LoginInQuestion, source: RequestSource): Promise<JudgedLogin>
  /**
   * Tells the owner of a right password after guesses, where the login goes no further yet: its guesses are known
   * here and not where it is completed.
   */
  noteGuesses(
    user: User,
    login: Pick<LoginInQuestion, 'failedAttempts' | 'history' | 'recognitionId'>,
    source: RequestSource,
  ): void
  /** What follows, once the session is opened: it is remembered, and its owner is told. */
  notify(session: OpenedSession, judged: JudgedLogin, source: RequestSource): void
}

interface Deps extends Pick<SurfaceContext, 'surface' | 'clock' | 'settings' | 'emit' | 'logger'> {
  readonly knownLogins: KnownLogins
  readonly mail: MailService
  readonly recognition: Recognition
  readonly suspicions: SuspicionNotices
  readonly riskScorer: RiskScorer
}

/** How long the scorer may think. */
const timeoutMs = 2000

const levels: readonly RiskAssessment['level'][] = ['low', 'elevated', 'high']
const knownSignals: readonly RiskSignal[] = [
  'newDevice',
  'newNetwork',
  'failedAttempts',
  'unassessed',
]

export function createLoginRisk(deps: Deps): LoginRisk {
  const { surface, clock } = deps

  async function ask(question: RiskQuestion): Promise<RiskAssessment> {
    try {
      const answer: unknown = await withTimeout(deps.riskScorer.assess(question), timeoutMs, clock)
      const level = levels.find((one) => one === memberOf(answer, 'level'))
      const signals = memberOf(answer, 'signals')
      if (level === undefined || !Array.isArray(signals)) throw new TypeError('no assessment')
      // The host's words count only if the list has them: they go into events and records.
      return { level, signals: knownSignals.filter((signal) => signals.includes(signal)) }
    } catch (cause) {
      deps.logger.error('the risk scorer failed', describeError(cause))
      return { level: 'high', signals: ['unassessed'] }
    }
  }

  return {
    historyOf: (userId) => deps.knownLogins.of(userId),

    async judge(user, { recognitionId, ...login }, source) {
      const { notifyNewDevice } = await deps.settings()
      const at = clock.now()
      const { method, mfaMethod, deviceId, history } = login
      const { known, next, grant } = deps.recognition.of(user.id, recognitionId, history)
      const asked = { surface, userId: user.id, at, ...source, ...login, recognitionHash: known }
      const assessment = await ask(asked)
      // A first login has no other device to compare with.
      const isNotified = assessment.level !== 'low' && user.lastLoginAt !== null
      return {
        ...assessment,
        isNotified,
        isMailed: isNotified && notifyNewDevice,
        isAfterGuesses: isAfterGuesses(login.failedAttempts),
        login: { at, ...source, method, mfaMethod, deviceId, recognitionHash: next },
        history,
        recognition: grant,
      }
    },

    noteGuesses(user, { failedAttempts, history, recognitionId }, source) {
      if (!isAfterGuesses(failedAttempts)) return
      const { known } = deps.recognition.of(user.id, recognitionId, history)
      const place = { ...source, deviceId: null, recognitionHash: known }
      // Not by the host's scorer, which is asked once of each login, when it is completed.
      const { level } = scoreLogin({ ...place, failedAttempts: 0, history })
      deps.suspicions.tell(user.id, level === 'low' ? 'knownPassword' : 'password', source)
    },

    notify({ user, sessionId }, judged, source) {
      const { signals, isNotified, isMailed, login, history } = judged
      deps.knownLogins.remember(user.id, login, history)
      // One mail of one login: that of a new device says as much.
      if (judged.isAfterGuesses && !isMailed) {
        const reason = judged.level === 'low' ? 'knownPassword' : 'password'
        deps.suspicions.tell(user.id, reason, source)
      }
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
