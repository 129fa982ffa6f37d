'use client'

import { client } from './auth-client.ts'

export function SignOut() {
  async function signOut() {
    await client.call('POST /logout')
    // A whole page: nothing that was rendered for the user stays behind.
    location.assign('/login')
  }
  return (
    <button type="button" onClick={() => void signOut()}>
      Sign out
    </button>
  )
}
