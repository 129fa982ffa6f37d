import type { Surface } from './surface.js'

/** What speaks against a login. `unassessed`: the scorer failed, and nothing is known. */
export type RiskSignal = 'newDevice' | 'newNetwork' | 'failedAttempts' | 'unassessed'

/** A login of the last ninety days that became a session, also one that was ended since. */
export interface PastLogin {
  /** Epoch milliseconds. */
  readonly at: number
  /** Null where it was not known. */
  readonly ip: string | null
  readonly userAgent: string | null
  /** The trusted device it came from or made; null for any other. */
  readonly deviceId: string | null
  /** How the first factor was shown: `password`, `webauthn`, or a provider's id. */
  readonly method: string
  /** How the second factor was shown; null without one. */
  readonly mfaMethod: string | null
}

/** A login whose factors are accepted, about to become a session. */
export interface RiskQuestion extends PastLogin {
  readonly surface: Surface
  readonly userId: string
  /** Wrong passwords for the address that were counted against `lockoutThreshold` right before. */
  readonly failedAttempts: number
  /** Newest first; the hundred newest of the last ninety days at most. */
  readonly history: readonly PastLogin[]
}

export interface RiskAssessment {
  /**
   * - `low`: nothing happens
   * - `elevated`: the owner is mailed (`notifyNewDevice`), except of the first login there is
   * - `high`: the same, and a trusted device does not stand for the second factor
   */
  readonly level: 'low' | 'elevated' | 'high'
  /** Why; told in `login.newDevice`. */
  readonly signals: readonly RiskSignal[]
}

/**
 * Judges logins. It can only ask for more: no answer lets anybody in. A rejection, no answer within
 * two seconds, and anything that is no assessment count as `high`.
 */
export interface RiskScorer {
  assess(question: RiskQuestion): Promise<RiskAssessment>
}
