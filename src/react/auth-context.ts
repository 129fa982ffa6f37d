import { createContext } from 'react'
import type { SessionState } from '../client/session-state.js'
import type { SessionClient } from './session-client.js'

/** What a provider gives to what is below it. */
export interface AuthContextValue {
  readonly client: SessionClient
  /** What is shown until the client knows more. */
  readonly initialState: SessionState
}

/** Null outside of a provider. It holds no client: that is in the provider's value. */
export const AuthContext = createContext<AuthContextValue | null>(null)
