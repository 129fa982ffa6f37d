// One route GET /me in one process, behind one check or none. Run by bench/suites/guard.ts.
import { contender } from './contender.mjs'
import { poolOf } from './shared/database.mjs'
import { accessClaims, audience, header, issuer, signerOf } from './shared/keys.mjs'
import { authOn, backendOf, signIn } from './shared/postern.mjs'
import { portOf } from './shared/server.mjs'

const email = 'person@example.test'

/** @type {import('pg').Pool | undefined} the one that the check reads from */
let pool

/** @param {{ framework: string, check: string, key: object, url?: string, redis?: object }} given */
async function start(given) {
  const { check, framework } = given
  const made = await (checks[check] ?? posternOn)(given)
  const port = await frameworks[framework](made)
  return { port, headers: made.headers }
}

/**
 * What each framework needs of a check: `guards` are Postern's own, `plugin` is of Fastify, and
 * `user` is a function of the headers that gives the person's id, or null.
 */
const checks = {
  none: async () => ({ headers: {} }),
  'none, with a token': async ({ key }) => ({
    headers: { authorization: `Bearer ${signerOf(key).signed(header, accessClaims())}` },
  }),
  'one read by key': keyRead,
  '@fastify/jwt': fastifyJwt,
  'better-auth, cookie cache': betterAuth,
  'better-auth, Postgres': betterAuth,
}

/** As the README mounts it. Tokens live for a day, so that none expires during a run. */
async function posternOn({ check, framework, key, url, redis }) {
  const store = check.split(' ')[1]
  if (store === 'postgres') pool = poolOf(url)
  const backend = await backendOf({ store, pool, redis })
  const auth = await authOn({ backend, key }, { settings: { accessTokenTTL: '24h' } })
  const { accessToken } = await signIn(auth, email)
  const adapter = await import(`postern/${framework}`)
  return {
    headers: { authorization: `Bearer ${accessToken}` },
    guards: adapter[`${framework}Guards`](auth.client),
  }
}

/** The least that a route can do which asks Postgres at each request. */
async function keyRead({ url }) {
  const pool = poolOf(url)
  await pool.query('create table if not exists denied (id text primary key, until bigint not null)')
  const text = 'select id from denied where id = $1'
  return {
    headers: { 'x-id': 'somebody' },
    user: async (headers) => {
      const { rows } = await pool.query({ name: 'denied', text, values: [headers['x-id']] })
      return rows.length === 0 ? headers['x-id'] : null
    },
  }
}

/** With its cache of verified tokens, which its documentation offers for throughput. */
async function fastifyJwt({ key }) {
  const token = signerOf(key).signed(header, accessClaims())
  return {
    headers: { authorization: `Bearer ${token}` },
    plugin: {
      secret: { public: key.publicPem },
      verify: { algorithms: ['RS256'], allowedIss: issuer, allowedAud: audience, cache: true },
    },
  }
}

async function betterAuth({ check, url }) {
  const { betterAuthOn, signInTo } = await import('./shared/better-auth.mjs')
  const { fromNodeHeaders } = await import('better-auth/node')
  const cache = { session: { cookieCache: { enabled: true, maxAge: 3600 } } }
  const auth = await betterAuthOn(poolOf(url), check.endsWith('cache') ? cache : {})
  const { cookie } = await signInTo(auth, email)
  return {
    headers: { cookie },
    user: async (headers) => {
      const found = await auth.api.getSession({ headers: fromNodeHeaders(headers) })
      return found === null ? null : found.user.id
    },
  }
}

const frameworks = { fastify: onFastify, express: onExpress, koa: onKoa }

async function onFastify({ guards, plugin, user }) {
  const { default: fastify } = await import('fastify')
  const app = fastify({ keepAliveTimeout: 900_000 })
  if (guards) {
    const { requireUser, principalOf } = guards
    app.get('/me', { onRequest: requireUser() }, async (request) => ({
      id: principalOf(request).userId,
    }))
  } else if (plugin) {
    await app.register((await import('@fastify/jwt')).default, plugin)
    const onRequest = (request) => request.jwtVerify()
    app.get('/me', { onRequest }, async (request) => ({ id: request.user.sub }))
  } else if (user) {
    const onRequest = async (request, reply) => {
      const id = await user(request.headers)
      if (id === null) return reply.code(401).send()
      request.id = id
    }
    app.get('/me', { onRequest }, async (request) => ({ id: request.id }))
  } else {
    app.get('/me', async () => ({ id: 'somebody' }))
  }
  await app.listen({ port: 0, host: '127.0.0.1' })
  return app.server.address().port
}

async function onExpress({ guards }) {
  const { default: express } = await import('express')
  const app = express()
  app.disable('x-powered-by')
  if (guards) {
    const { requireUser, principalOf } = guards
    app.get('/me', requireUser(), (request, response) => {
      response.json({ id: principalOf(request).userId })
    })
  } else {
    app.get('/me', (_request, response) => response.json({ id: 'somebody' }))
  }
  return portOf(app)
}

async function onKoa({ guards }) {
  const { default: Koa } = await import('koa')
  const app = new Koa()
  if (guards) {
    const { requireUser, principalOf } = guards
    app.use(requireUser())
    app.use((ctx) => {
      ctx.body = { id: principalOf(ctx).userId }
    })
  } else {
    app.use((ctx) => {
      ctx.body = { id: 'somebody' }
    })
  }
  return portOf(app)
}

/** What one statement takes while nothing else is sent: the median of some, in milliseconds. */
async function roundTrip({ reads }) {
  const times = []
  for (let read = 0; read < reads; read += 1) {
    const from = performance.now()
    await pool.query({ name: 'trip', text: 'select $1::int', values: [read] })
    times.push(performance.now() - from)
  }
  return times.sort((a, b) => a - b)[times.length >> 1]
}

contender({ start, roundTrip })
