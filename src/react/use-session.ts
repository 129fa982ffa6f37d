import { useSyncExternalStore } from 'react'
import type { SessionState } from '../client/session-state.js'
import { useAuth } from './use-auth.js'

/**
 * What is known of the session. The component is rendered again when that changes. While a page is hydrated, it is
 * what the server rendered with. Throws where there is no `AuthProvider` above.
 *
 * @example
 * import { useSession } from 'postern/react'
 * export function useIsSignedIn(): boolean {
 *   return useSession().status === 'signedIn'
 * }
 */
export function useSession(): SessionState {
  const { client, initialState, shown } = useAuth()
  return useSyncExternalStore(client.subscribe, shown, () => initialState)
}
