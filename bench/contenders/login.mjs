// Logins by password, and one protected route in the same process. Run by bench/suites/login.ts.
import { contender } from './contender.mjs'
import { poolOf } from './shared/database.mjs'
import { accessClaims, audience, header, issuer, signerOf } from './shared/keys.mjs'
import { authOn, backendOf, clientUrl, password, signIn } from './shared/postern.mjs'
import { portOf } from './shared/server.mjs'

/** The costs that Postern has by default, which are those of OWASP for argon2id. */
const costs = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/**
 * @param {{ kind: 'postern' | 'hand-made' | 'better-auth', binding?: string, concurrency?: number,
 *   people: number, key: object, url: string }} given
 */
async function start(given) {
  const { default: express } = await import('express')
  const app = express()
  app.disable('x-powered-by')
  const made = await kinds[given.kind](app, express, given)
  return { port: await portOf(app), ...made }
}

const kinds = { postern, 'hand-made': handMade, 'better-auth': betterAuth }

const emailsOf = (people) => Array.from({ length: people }, (_, index) => `p${index}@example.test`)

async function postern(app, _express, { binding, concurrency, people, key, url }) {
  const { expressGuards, expressRouter } = await import('postern/express')
  const backend = await backendOf({ store: 'postgres', pool: poolOf(url) })
  const hash = { implementation: binding, concurrency }
  const auth = await authOn({ backend, key }, { hash, settings: { accessTokenTTL: '24h' } })
  const emails = emailsOf(people)
  for (const email of emails) {
    await auth.client.users.create({ email, password, emailVerified: true })
  }
  const { accessToken } = await signIn(auth, emails[0])
  const { principalOf, requireUser } = expressGuards(auth.client)
  app.use(expressRouter(auth.client))
  app.get('/me', requireUser(), (request, response) => {
    response.json({ id: principalOf(request).userId })
  })
  return {
    login: { path: '/v1/auth/client/mobile/login', headers: { origin: clientUrl } },
    bodies: emails.map((email) => ({ email, password })),
    me: { authorization: `Bearer ${accessToken}` },
  }
}

/**
 * What a careful host writes by hand: one row read, the hash checked, two tokens signed by jose and
 * the refresh token's hash stored. Nothing limits how many hashes run at once.
 */
async function handMade(app, express, { binding, people, key, url }) {
  const { createHash } = await import('node:crypto')
  const { importPKCS8, importSPKI, jwtVerify, SignJWT } = await import('jose')
  const library = await import(binding)
  const { hash, verify } = library.default ?? library
  const pool = poolOf(url)
  await pool.query(`create table person (id uuid primary key, email text unique, hash text not null);
    create table refresh (id uuid primary key, person uuid not null, hash bytea not null, until timestamptz not null)`)
  const stored = await hash(password, costs)
  const emails = emailsOf(people)
  await pool.query(
    'insert into person select gen_random_uuid(), email, $2 from unnest($1::text[]) email',
    [emails, stored],
  )
  const [privateKey, publicKey] = await Promise.all([
    importPKCS8(key.privatePem, 'RS256'),
    importSPKI(key.publicPem, 'RS256'),
  ])
  const signed = (claims) => new SignJWT(claims).setProtectedHeader(header).sign(privateKey)
  app.post('/login', express.json(), async (request, response) => {
    const { email, password: given } = request.body
    const { rows } = await pool.query({
      name: 'person',
      text: 'select id, hash from person where email = $1',
      values: [email],
    })
    if (!(await verify(rows[0].hash, given))) return response.status(401).end()
    const [refresh, access] = await Promise.all([
      signed(accessClaims({ typ: 'refresh', sub: rows[0].id })),
      signed(accessClaims({ sub: rows[0].id })),
    ])
    await pool.query({
      name: 'refresh',
      text: "insert into refresh values (gen_random_uuid(), $1, $2, now() + interval '7 days')",
      values: [rows[0].id, createHash('sha256').update(refresh).digest()],
    })
    response.json({ access, refresh })
  })
  const options = { issuer, audience, algorithms: ['RS256'] }
  app.get('/me', async (request, response) => {
    const token = request.headers.authorization?.slice(7) ?? ''
    const { payload } = await jwtVerify(token, publicKey, options)
    response.json({ id: payload.sub })
  })
  return {
    login: { path: '/login', headers: {} },
    bodies: emails.map((email) => ({ email, password })),
    me: { authorization: `Bearer ${signerOf(key).signed(header, accessClaims())}` },
  }
}

async function betterAuth(app, _express, { people, url }) {
  const { betterAuthOn, signInTo } = await import('./shared/better-auth.mjs')
  const { fromNodeHeaders, toNodeHandler } = await import('better-auth/node')
  const emails = emailsOf(people)
  const auth = await betterAuthOn(poolOf(url))
  const { cookie } = await signInTo(auth, emails[0])
  for (const email of emails.slice(1)) {
    await auth.api.signUpEmail({ body: { email, password, name: 'Bench' } })
  }
  app.all('/api/auth/*splat', toNodeHandler(auth))
  app.get('/me', async (request, response) => {
    const found = await auth.api.getSession({ headers: fromNodeHeaders(request.headers) })
    if (found === null) return response.status(401).end()
    response.json({ id: found.user.id })
  })
  return {
    login: { path: '/api/auth/sign-in/email', headers: { origin: auth.options.baseURL } },
    bodies: emails.map((email) => ({ email, password })),
    me: { cookie },
  }
}

let most = 0
let watch

/** Watches the memory of this process until `mostMemory` asks for the greatest it saw, in bytes. */
function watchMemory() {
  globalThis.gc?.()
  most = process.memoryUsage.rss()
  const before = most
  watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss())
  }, 2)
  return before
}

function mostMemory() {
  clearInterval(watch)
  return Math.max(most, process.memoryUsage.rss())
}

contender({ start, watchMemory, mostMemory })
