'use client'

import { isPosternError } from 'postern/client'
import { type FormEvent, useState } from 'react'
import { client } from '../auth-client.ts'
import { useHydrated } from '../use-hydrated.ts'

export default function Login() {
  const isReady = useHydrated()
  const [mfaToken, setMfaToken] = useState<string | null>(null)
  const [message, setMessage] = useState('')

  async function signIn(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    setMessage('')
    const form = new FormData(event.currentTarget)
    const field = (name: string) => String(form.get(name) ?? '')
    try {
      const login =
        mfaToken === null
          ? await client.call('POST /login', { email: field('email'), password: field('password') })
          : await client.call('POST /login/mfa', { mfaToken, method: 'totp', code: field('code') })
      if (login.status === 'authenticated') location.assign('/')
      else if (login.status === 'mfaRequired') setMfaToken(login.mfaToken)
      else if (login.status === 'passwordChangeRequired') setMessage('Choose a new password first.')
      else setMessage('Add a second factor first.')
    } catch (error) {
      if (!isPosternError(error)) throw error
      setMessage(error.kind === 'problem' ? error.detail : 'The server cannot be reached.')
    }
  }

  return (
    <main>
      <h1>Sign in</h1>
      {/* Sent before the script is there, a form without a method puts the password into the address. */}
      <form method="post" onSubmit={(event) => void signIn(event)}>
        {mfaToken === null ? (
          <>
            <label>
              E-mail <input name="email" type="email" autoComplete="username" required />
            </label>
            <label>
              Password
              <input name="password" type="password" autoComplete="current-password" required />
            </label>
          </>
        ) : (
          <label>
            Code of your app <input name="code" autoComplete="one-time-code" required />
          </label>
        )}
        <button type="submit" disabled={!isReady}>
          Sign in
        </button>
        <p role="alert">{message}</p>
      </form>
    </main>
  )
}
