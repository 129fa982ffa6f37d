// A page by postern/client, its passkeys and postern/react, with a browser's types alone.
import { createClient, isPosternError, type SessionState } from 'postern/client'
import { passkeys } from 'postern/client/passkeys'
import { AuthProvider, useAuthClient, useSession } from 'postern/react'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'

const client = createClient({
  surface: 'client',
  baseUrl: 'https://api.example.com',
  async onStepUp() {
    await stepUp()
  },
})
const { add, signIn, stepUp } = passkeys(client)

/** What no part of this program calls, and the compiler checks all the same. */
export async function addPasskey(name: string): Promise<string> {
  try {
    const login = await signIn({ autofill: true })
    if (login.status === 'authenticated') await add({ name })
    return login.status
  } catch (error) {
    if (!isPosternError(error) || error.kind !== 'problem') throw error
    return error.violations.join(', ')
  }
}

function Account() {
  const session = useSession()
  const { call } = useAuthClient<typeof client>()
  if (session.status !== 'signedIn') return null
  const signOut = () => void call('POST /logout')
  return createElement('form', { onSubmit: signOut }, session.user.email)
}

const user = { id: '1', email: 'ada@example.org', name: 'Ada', emailVerified: true }
const initialState: SessionState = { status: 'signedIn', user }
const app = createElement(AuthProvider, { client, initialState }, createElement(Account))
console.log(
  JSON.stringify({ html: renderToStaticMarkup(app), passkeys: [typeof add, typeof stepUp] }),
)
