import type { Json } from './exchange.js'
import type { Grant } from './grant.js'
import type { Hold } from './own-lock.js'
import type { SessionState, StateKeeper } from './session-state.js'

/** The session of a page or of an app, and everything that changes its refresh token. */
export interface SessionKeeper {
  /** Runs what uses or changes the refresh token, one at a time. */
  readonly hold: Hold
  readonly state: StateKeeper
  /** The access token; null where there is no session, or none is known yet. */
  readonly token: string | null
  /** When the token is to be renewed. */
  readonly dueAt: number
  readonly expiresAt: number
  /** Finds out who is signed in. Rejects, and changes nothing, where that cannot be found out now. */
  restore(): Promise<SessionState>
  /** Takes a new token. All callers that ask at once wait for the same one. */
  renew(): Promise<void>
  /** To be called while the lock is held. */
  rotate(): Promise<void>
  /** A login was answered with tokens. To be called while the lock is held. */
  begin(grant: Grant, reply: Json): Promise<void> | void
  /** The session is over, for this reason. */
  end(reason: string | null): void
  /** The account was changed, or deleted. To be called while the lock is held. */
  reread(): Promise<void>
}
