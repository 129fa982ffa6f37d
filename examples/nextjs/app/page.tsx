import { redirect } from 'next/navigation'
import { currentSession } from '../session.ts'
import { stay } from './actions.ts'
import { SignOut } from './sign-out.tsx'

export default async function Home() {
  const session = await currentSession()
  if (session === null) redirect('/login')
  return (
    <main>
      <h1>Hello, {session.user.email}</h1>
      <p>
        Without a visit, you stay signed in until{' '}
        {new Date(session.session.idleExpiresAt).toUTCString()}.
      </p>
      <form action={stay}>
        <button type="submit">Stay signed in</button>
      </form>
      <SignOut />
    </main>
  )
}
