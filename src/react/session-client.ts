import type { SessionState } from '../client/session-state.js'

/** What the binding needs of a client: that of a page or of an app, of either surface. */
export interface SessionClient {
  readonly get: () => SessionState
  readonly subscribe: (listener: () => void) => () => void
  readonly restore: () => Promise<SessionState>
}
