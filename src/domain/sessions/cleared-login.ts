import type { SecondFactorMethod } from '../../engine/factors.js'
import type { Delivery } from '../../engine/refresh-rules.js'
import type { User } from '../../model/user.js'

const cleared = Symbol('cleared')

/** What a session is to be opened for. */
export interface LoginFacts {
  readonly user: User
  readonly loginMethod: string
  readonly mfaMethod: SecondFactorMethod | null
  readonly amr: readonly string[]
  /** The trusted device: without an `mfaMethod`, one that stood for it; else one to be trusted. */
  readonly deviceId: string | null
  /** What the browser or app is to be known by; null where recognition is off. */
  readonly recognition: { readonly recognitionId: string } | null
  /** How its refresh tokens are handed out. */
  readonly delivery: Delivery
}

/**
 * A login that passed every step. Only the login pipeline makes one and only one of these opens a
 * session, so that no way of signing in can leave out a step. An import rule keeps `clearedLogin`
 * to the pipeline.
 */
export interface ClearedLogin extends LoginFacts {
  readonly [cleared]: true
}

export function clearedLogin(facts: LoginFacts): ClearedLogin {
  return { [cleared]: true, ...facts }
}
