// better-auth on Postgres. Its rate limit is off, because it refuses what comes from one address;
// telemetry is off. Every other option is the library's default unless the contender names it.
import { createHmac } from 'node:crypto'
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'

const secret = 'bench-secret-bench-secret-bench-secret-0123456789'

export async function betterAuthOn(pool, changes = {}) {
  const auth = betterAuth({
    database: pool,
    baseURL: 'http://127.0.0.1:25997',
    secret,
    emailAndPassword: { enabled: true },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: { level: 'error' },
    ...changes,
  })
  const { runMigrations } = await getMigrations(auth.options)
  await runMigrations()
  return auth
}

/** Signs somebody up and in; the `Cookie` header that a browser sends back, and the session's token. */
export async function signInTo(auth, email, password = 'correct horse battery staple') {
  await auth.api.signUpEmail({ body: { email, password, name: 'Bench' } }).catch(() => null)
  const response = await auth.api.signInEmail({ body: { email, password }, asResponse: true })
  if (!response.ok) throw new Error(`sign-in: ${response.status} ${await response.text()}`)
  const { token } = await response.json()
  return { token, cookie: cookiesOf(response.headers.getSetCookie()) }
}

const cookiesOf = (lines) => lines.map((line) => line.split(';')[0]).join('; ')

/** The cookie of a session whose token is known, as better-auth signs it. */
export function cookieOf(token) {
  const signature = createHmac('sha256', secret).update(token).digest('base64')
  return `better-auth.session_token=${encodeURIComponent(`${token}.${signature}`)}`
}
