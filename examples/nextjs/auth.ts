import pg from 'pg'
import { type Auth, createAuth, roleAuthorizer } from 'postern'
import { memory } from 'postern/memory'
import { postgres } from 'postern/postgres'

/** Next.js loads this file several times in a process, which has one `Auth`. */
const held: typeof globalThis & { auth?: Promise<Auth> } = globalThis

/** The process's own, made at the first call: `next build` loads this file too, and has no keys. */
export function startedAuth(): Promise<Auth> {
  held.auth ??= start()
  return held.auth
}

async function start(): Promise<Auth> {
  const { env } = process
  const here = `http://localhost:${env.PORT ?? 3000}`
  const { OPERATOR_URL, CLIENT_URL } = env
  // At an address with http, the cookies of a real host would be sent without encryption too.
  if (env.NODE_ENV === 'production' && !(OPERATOR_URL && CLIENT_URL)) {
    throw new Error('Set OPERATOR_URL and CLIENT_URL, as in https://operator.example.com.')
  }
  const pool = env.DATABASE_URL ? new pg.Pool({ connectionString: env.DATABASE_URL }) : null
  // Without a listener, a lost idle connection ends the process.
  pool?.on('error', ({ message }) => console.error('lost a connection to the database:', message))
  const auth = await createAuth({
    // Without a database, the host forgets everything when it ends.
    backend: pool ? postgres(pool, { schema: env.DATABASE_SCHEMA ?? 'postern' }) : memory(),
    // CONFIG_ENCRYPTION_KEY is read from the environment by the library.
    keys: { current: env.SIGNING_KEY ?? '' },
    surfaces: {
      operator: { baseUrl: OPERATOR_URL || here },
      client: { baseUrl: CLIENT_URL || here },
    },
    // Next.js gives no address of the socket. Set this behind a proxy, or all callers share one rate limit.
    trustProxy: env.TRUSTED_PROXIES ? Number(env.TRUSTED_PROXIES) : false,
    // Call your mail provider here. The link is in `data.url`, and leads to a page of yours.
    mailer: {
      async send({ to, template, data }) {
        console.log('mail', JSON.stringify({ to, template, ...data }))
      },
    },
    authorizer: roleAuthorizer(),
    // What authenticator apps and passkeys call your product.
    settings: { totpIssuer: 'Example' },
  })
  await auth.migrate()
  await ensureFirstOperator(auth)
  return auth
}

/**
 * Made in code, which asks for no permission; the first operator may let users read the reports. It is not made again at
 * a start after it was deleted, or got another address, as long as there is another operator. Take both variables out of
 * the environment after the first start: this password would let anyone in who ever knew it.
 */
async function ensureFirstOperator(auth: Auth): Promise<void> {
  const { OPERATOR_EMAIL: email, OPERATOR_PASSWORD: password } = process.env
  const { users, roles } = auth.operator
  if (!email || !password || (await users.list({ limit: 1 })).users.length > 0) return
  const { id: userId } = await users.create({ email, password, emailVerified: true })
  const permissions = ['reports.share']
  const { id: roleId } = await roles.define({ name: 'report manager', permissions })
  await roles.bind({ userId, roleId })
}
