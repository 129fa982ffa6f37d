'use client'

/** The session of a client for components of React. */
export { AuthProvider, type AuthProviderProps } from './auth-provider.js'
export type { SessionClient } from './session-client.js'
export { useAuthClient } from './use-auth-client.js'
export { useSession } from './use-session.js'
