import type { Surface } from './surface.js'

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
