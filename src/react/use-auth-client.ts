import type { AuthClient } from '../client/auth-client.js'
import type { SessionClient } from './session-client.js'
import { useAuth } from './use-auth.js'

/**
 * The client that the nearest `AuthProvider` was given, for calls. Its type is the one that you name: a client of pages
 * of the client surface where you name none. Throws where there is no `AuthProvider` above.
 *
 * @example
 * import { createClient } from 'postern/client'
 * import { useAuthClient } from 'postern/react'
 *
 * const client = createClient({ surface: 'operator' })
 * export function useSignOut() {
 *   const { call } = useAuthClient<typeof client>()
 *   return () => call('POST /logout')
 * }
 */
export function useAuthClient<C extends SessionClient = AuthClient<'client'>>(): C {
  // What the provider was given; that it is of this type is the caller's word.
  return useAuth().client as C
}
