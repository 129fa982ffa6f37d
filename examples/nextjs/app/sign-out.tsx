'use client'

import { useState } from 'react'
import { client } from './auth-client.ts'
import { useHydrated } from './use-hydrated.ts'

export function SignOut() {
  const isReady = useHydrated()
  const [message, setMessage] = useState('')

  async function signOut() {
    try {
      await client.call('POST /logout')
    } catch {
      // Unless the session has ended already, elsewhere.
      if (client.get().status !== 'signedOut') return setMessage('The server cannot be reached.')
    }
    // A whole page: nothing that was rendered for the user stays behind.
    location.assign('/login')
  }
  return (
    <>
      <button type="button" disabled={!isReady} onClick={() => void signOut()}>
        Sign out
      </button>
      <p role="alert">{message}</p>
    </>
  )
}
