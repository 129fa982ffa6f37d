import type { Surface } from './surface.js'

/** A reason to doubt a login. `unassessed` means that the scorer failed. */
export type RiskSignal = 'newDevice' | 'newNetwork' | 'failedAttempts' | 'unassessed'

/** A login of the last ninety days that became a session, including sessions that have ended. */
export interface PastLogin {
  /** Epoch milliseconds. */
  readonly at: number
  /** Null when unknown. */
  readonly ip: string | null
  readonly userAgent: string | null
  /** The trusted device that it used or created; null without one. */
  readonly deviceId: string | null
  /**
   * For a past login: a hash of the recognition id that its browser or app got. For the login in question: a hash
   * of the one that it sent, if a past login of this account got it. Equal texts are one device, and tell
   * nothing about other accounts. Null without one; absent counts as null.
   */
  readonly recognitionHash?: string | null
  /** The first factor: `password`, `webauthn`, or the id of a provider. */
  readonly method: string
  /** The second factor; null without one. */
  readonly mfaMethod: string | null
}

/** A login whose factors were accepted and that is about to become a session. */
export interface RiskQuestion extends PastLogin {
  readonly surface: Surface
  readonly userId: string
  /** Wrong passwords counted towards `lockoutThreshold` just before this login, of its device where that is known. */
  readonly failedAttempts: number
  /** The newest login of each device and network in the last ninety days, newest first, at most 1,000. */
  readonly history: readonly PastLogin[]
}

/** The judgement of a login. */
export interface RiskAssessment {
  /**
   * - `low`: nothing happens
   * - `elevated`: the owner gets a mail (setting `notifyNewDevice`), except about the first login
   * - `high`: the same, and a trusted device does not replace the second factor
   */
  readonly level: 'low' | 'elevated' | 'high'
  /** The reasons; the event `login.newDevice` carries them. */
  readonly signals: readonly RiskSignal[]
}

/**
 * Judges logins. It can only raise the requirements of a login, never admit one. A rejection, no
 * answer within two seconds, and an answer of the wrong form count as `high`.
 */
export interface RiskScorer {
  assess(question: RiskQuestion): Promise<RiskAssessment>
}

/** A session that shows up at another place than at its last refresh: by a refresh, `GET …/session` or `sessionOf`. */
export interface SessionRiskQuestion {
  readonly surface: Surface
  readonly userId: string
  readonly sessionId: string
  /** Epoch milliseconds. */
  readonly at: number
  /** Null when unknown. */
  readonly ip: string | null
  readonly userAgent: string | null
  /** At least one. A network is an IPv4 /24 or an IPv6 /48; a user agent counts without its versions. */
  readonly changed: readonly SessionChange[]
  /** The login of the session; null where its record is gone. */
  readonly login: {
    /** Epoch milliseconds. */
    readonly at: number
    readonly ip: string | null
    readonly userAgent: string | null
    /** The first factor: `password`, `webauthn`, or the id of a provider. */
    readonly method: string
    /** The second factor; null without one. */
    readonly mfaMethod: string | null
  } | null
}

/** What is not as it was at the session's last refresh. */
export type SessionChange = 'network' | 'userAgent'

/**
 * - `none`: nothing happens
 * - `stepUp`: the session's proof of a second factor is void, so what needs one asks for it again
 * - `end`: the session ends, and the request is refused with 401 `session_revoked`; `sessionOf` finds no session
 */
export type SessionRiskOutcome = 'none' | 'stepUp' | 'end'

/**
 * Judges sessions while they last. A rejection, no answer within two seconds, and an answer of the wrong form count as
 * `stepUp`: a scorer that is away signs out no session, and lets no old proof stand.
 */
export interface SessionRiskScorer {
  assess(question: SessionRiskQuestion): Promise<{ readonly outcome: SessionRiskOutcome }>
}
