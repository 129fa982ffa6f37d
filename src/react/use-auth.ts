import { useContext } from 'react'
import { AuthContext, type AuthContextValue } from './auth-context.js'

/** What the nearest provider gives. */
export function useAuth(): AuthContextValue {
  const value = useContext(AuthContext)
  if (value === null) throw new Error('postern/react: render this below an AuthProvider')
  return value
}
