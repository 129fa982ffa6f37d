import {
  createElement,
  type ReactElement,
  type ReactNode,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import type { PosternError } from '../client/postern-error.js'
import type { SessionState } from '../client/session-state.js'
import { AuthContext } from './auth-context.js'
import type { SessionClient } from './session-client.js'

/** The properties of `AuthProvider`. */
export interface AuthProviderProps {
  /** The client of this page or app, the same one at each rendering. */
  readonly client: SessionClient
  /**
   * What the server rendered with, the same in the browser. It is shown until the client knows more. Left out,
   * `{ status: 'loading' }`.
   */
  readonly initialState?: SessionState
  /** Called where the server, or the storage of an app, could not be asked who is signed in. `restore` asks again. */
  readonly onError?: (error: PosternError) => void
  readonly children?: ReactNode
}

const loading: SessionState = { status: 'loading' }

/**
 * Gives a client to the components below, and has it find out once who is signed in. On a server nothing is sent.
 *
 * @example
 * import { createElement } from 'react'
 * import { createClient } from 'postern/client'
 * import { AuthProvider, useSession } from 'postern/react'
 *
 * const client = createClient({ surface: 'client', baseUrl: 'https://api.example.com' })
 * function Greeting() {
 *   const session = useSession()
 *   return createElement('p', null, session.status === 'signedIn' ? session.user.name : 'Hello')
 * }
 * export const page = createElement(AuthProvider, { client }, createElement(Greeting))
 */
export function AuthProvider({
  client,
  initialState = loading,
  onError,
  children,
}: AuthProviderProps): ReactElement {
  // What the server rendered with does not change.
  const [first] = useState(initialState)
  const value = useMemo(() => {
    let isKnown = false
    const shown = () => {
      const state = client.get()
      // A client of an app is loading again once its tokens turn out to be another user's: then the user shown before
      // must not come back.
      isKnown ||= state.status !== 'loading'
      return isKnown ? state : first
    }
    return { client, initialState: first, shown }
  }, [client, first])
  // Also where no component below shows the session yet.
  useEffect(() => client.subscribe(value.shown), [client, value])
  const report = useRef(onError)
  useEffect(() => {
    report.current = onError
  }, [onError])
  useEffect(() => {
    let isShown = true
    // Strict mode runs this twice at once, which is one question; a later mount finds the answer there.
    if (client.get().status === 'loading') {
      client.restore().catch((error) => isShown && report.current?.(error))
    }
    return () => {
      isShown = false
    }
  }, [client])
  return createElement(AuthContext.Provider, { value }, children)
}
