// Postern as a host sets it up, by its public names alone. Every option is the library's default
// unless the contender names it.
import { createHash } from 'node:crypto'
import { createAuth } from 'postern'
import { fetchHandler } from 'postern/fetch'

export const operatorUrl = 'http://localhost:25999'
export const clientUrl = 'http://localhost:25998'
export const password = 'correct horse battery staple'
export const configKey = createHash('sha256').update('bench').digest('base64')

/** Says errors alone. */
const logger = {
  debug() {},
  info() {},
  warn() {},
  error: (message, fields) => console.error('postern:', message, fields ?? ''),
}

/**
 * A backend of the kind `store`: `memory`, `postgres`, `redis`, or `split`, which is rows on Postgres
 * with denylist, counters and lease on Redis.
 * @param {{ store: string, pool?: import('pg').Pool, schema?: string,
 *   redis?: { url: string, prefix: string } }} given
 */
export async function backendOf({ store, pool, schema = 'postern', redis }) {
  if (store === 'memory') {
    const { memory } = await import('postern/memory')
    return memory()
  }
  const rows = store === 'redis' ? null : await postgresBackend(pool, schema)
  if (store === 'postgres') return rows
  const keys = await redisBackend(redis)
  if (rows === null) return keys
  await keys.store.prepare([])
  return { ...rows, denylist: keys.denylist, counter: keys.counter, lease: keys.lease }
}

async function postgresBackend(pool, schema) {
  const { postgres } = await import('postern/postgres')
  await pool.query(`create schema if not exists ${schema}`)
  return postgres(pool, { schema })
}

async function redisBackend({ url, prefix }) {
  const [{ createClient }, { redis }] = await Promise.all([
    import('redis'),
    import('postern/redis'),
  ])
  const client = createClient({ url, disableOfflineQueue: true })
  client.on('error', console.error)
  await client.connect()
  return redis(client, { keyPrefix: prefix })
}

/**
 * The options of `createAuth`, with a backend and the run's key. `trustProxy` lets each request say an address of its own, so that no
 * limit per address is met: the limits stay as they are.
 */
export function authOptions({ backend, key }, changes = {}) {
  return {
    backend,
    keys: { current: key.privatePem },
    issuer: operatorUrl,
    env: {},
    configKeys: [{ id: 'bench', key: configKey }],
    surfaces: { operator: { baseUrl: operatorUrl }, client: { baseUrl: clientUrl } },
    trustProxy: 1,
    mailer: { async send() {} },
    logger,
    ...changes,
  }
}

/** An instance whose tables are there. */
export async function authOn(parts, changes = {}) {
  const auth = await createAuth(authOptions(parts, changes))
  await auth.migrate()
  return auth
}

let asked = 0

/** An address that no request used before. */
export function newAddress() {
  asked += 1
  return `10.${(asked >> 16) & 255}.${(asked >> 8) & 255}.${asked & 255}`
}

/**
 * Asks a surface through `postern/fetch`. Throws for another status than `expected`.
 * @returns {(method: string, path: string, options?: object) => Promise<any>} the reply's JSON
 */
export function askerOf(mountable, baseUrl) {
  const handle = fetchHandler(mountable)
  return async (method, path, { body, token, headers, expected } = {}) => {
    const request = new Request(baseUrl + path, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        origin: baseUrl,
        'x-forwarded-for': newAddress(),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const response = await handle(request, { remoteAddress: '127.0.0.1' })
    const text = await response.text()
    const wanted = expected === undefined ? response.status < 400 : response.status === expected
    if (!wanted) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text === '' ? null : JSON.parse(text)
  }
}

/** Signs a new or known person in, on the client surface as an app does; the reply's JSON. */
export async function signIn(auth, email) {
  const { users } = auth.client
  if ((await users.findByEmail(email)) === null) {
    await users.create({ email, password, emailVerified: true })
  }
  const ask = askerOf(auth.client, clientUrl)
  return ask('POST', '/v1/auth/client/mobile/login', { body: { email, password } })
}
