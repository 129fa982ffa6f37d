// What the hosts of this folder have in common: the library with its keys, its database and its mailer.
import { readFileSync } from 'node:fs'
import pg from 'pg'
import { createAuth, roleAuthorizer } from 'postern'
import { memory } from 'postern/memory'
import { postgres } from 'postern/postgres'

const { env } = process

export const port = Number(env['PORT'] ?? 3000)
const here = `http://localhost:${port}`

const { DATABASE_URL, OPERATOR_URL, CLIENT_URL } = env
if (env['NODE_ENV'] === 'production') {
  if (!DATABASE_URL) throw new Error('DATABASE_URL is not set.')
  // At an address with http, the cookies of a real host would be sent without encryption too.
  if (!OPERATOR_URL || !CLIENT_URL) {
    throw new Error('Set OPERATOR_URL and CLIENT_URL, as in https://operator.example.com.')
  }
}
const pool = DATABASE_URL ? new pg.Pool({ connectionString: DATABASE_URL }) : null
// Without a listener, a lost idle connection ends the process.
pool?.on('error', ({ message }) => console.error('lost a connection to the database:', message))

export const auth = await createAuth({
  // Without a database, the host forgets everything when it ends.
  backend: pool ? postgres(pool, { schema: env['DATABASE_SCHEMA'] ?? 'postern' }) : memory(),
  // From the environment, or from a file that only this process may read. CONFIG_ENCRYPTION_KEY is
  // read from the environment by the library.
  keys: { current: env['SIGNING_KEY'] ?? readFileSync(env['SIGNING_KEY_FILE'] ?? '', 'utf8') },
  // Where browsers reach the two surfaces. In production, each has a host name of its own.
  surfaces: {
    operator: { baseUrl: OPERATOR_URL || here },
    client: { baseUrl: CLIENT_URL || here },
  },
  // How many proxies of yours stand in front. Without any, X-Forwarded-For is not believed.
  trustProxy: env['TRUSTED_PROXIES'] ? Number(env['TRUSTED_PROXIES']) : false,
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

/** To be called when no request is under way any more. */
export async function closeAuth(): Promise<void> {
  await auth.close()
  await pool?.end()
}
