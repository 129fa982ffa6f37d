import { createContext } from 'react'
import type { SessionState } from '../client/session-state.js'
import type { SessionClient } from './session-client.js'

/** What a provider gives to what is below it. */
export interface AuthContextValue {
  readonly client: SessionClient
  /** What the server rendered with. */
  readonly initialState: SessionState
  /** What to show now: `initialState` until the client first knows more, and then its state. */
  readonly shown: () => SessionState
}

/** Null outside of a provider. It holds no client: that is in the provider's value. */
export const AuthContext = createContext<AuthContextValue | null>(null)
