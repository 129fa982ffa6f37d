// What a page of React is made of, on the server and in the browser.
import { createElement, type ReactElement, StrictMode } from 'react'
import type { SessionState } from '../../src/client/index.js'
import {
  AuthProvider,
  type SessionClient,
  useAuthClient,
  useSession,
} from '../../src/react/index.js'

/** Renderings of `Account`, so that a test sees which states were shown. */
export const shown: string[] = []

function Account(): ReactElement {
  const session = useSession()
  const client = useAuthClient()
  const text = session.status === 'signedIn' ? session.user.email : session.status
  shown.push(text)
  const signOut = () => void client.call('POST /logout')
  return createElement(
    'main',
    null,
    createElement('p', { id: 'who' }, text),
    createElement('button', { type: 'button', onClick: signOut }, 'Sign out'),
  )
}

export function App(given: {
  readonly client: SessionClient
  readonly initialState?: SessionState
  readonly onError?: (error: unknown) => void
}): ReactElement {
  return createElement(
    StrictMode,
    null,
    createElement(AuthProvider, { ...given }, createElement(Account), createElement(Account)),
  )
}
