// One start of a process: what is imported, made and asked first. Prints what it took as JSON. The words
// after the file's name are the contender, and as JSON what it is given. Modules are loaded inside the
// functions, so that each contender pays for its own alone.
import { request } from 'node:http'

const contenders = {
  async 'empty process'() {},

  async 'postern, import'() {
    await import('postern')
  },
  async 'better-auth, import'() {
    await import('better-auth')
  },

  /** Both surfaces on Express, over the store in memory. */
  async 'postern, ready'({ key }) {
    const [{ createAuth }, { expressRouter }, { memory }] = await Promise.all([
      import('postern'),
      import('postern/express'),
      import('postern/memory'),
    ])
    const from = performance.now()
    const auth = await createAuth(options(memory(), key))
    const took = performance.now() - from
    expressRouter(auth.both)
    return took
  },
  async 'better-auth, ready'() {
    const [{ betterAuth }, { toNodeHandler }, { memoryAdapter }] = await Promise.all([
      import('better-auth'),
      import('better-auth/node'),
      import('better-auth/adapters/memory'),
    ])
    const rows = { user: [], session: [], account: [], verification: [] }
    const from = performance.now()
    const auth = betterAuth(peerOptions(memoryAdapter(rows)))
    await auth.$context
    const took = performance.now() - from
    toNodeHandler(auth)
    return took
  },

  /** From nothing to the first reply of a protected route, with rows that are there already. */
  async 'postern, first reply'({ key, postgres, credential }) {
    const [{ createAuth }, { expressGuards }, store, pg, express] = await Promise.all([
      import('postern'),
      import('postern/express'),
      import('postern/postgres'),
      import('pg'),
      import('express'),
    ])
    const pool = new pg.default.Pool({ connectionString: postgres, max: 10 })
    const auth = await createAuth(options(store.postgres(pool, { schema: 'postern' }), key))
    const { requireUser, principalOf } = expressGuards(auth.client)
    const app = express.default()
    app.get('/me', requireUser(), (asked, response) => {
      response.json({ user: principalOf(asked).userId })
    })
    await firstReply(app, { authorization: `Bearer ${credential}` })
  },
  async 'better-auth, first reply'({ postgres, credential }) {
    const [{ betterAuth }, { fromNodeHeaders }, pg, express] = await Promise.all([
      import('better-auth'),
      import('better-auth/node'),
      import('pg'),
      import('express'),
    ])
    const pool = new pg.default.Pool({ connectionString: postgres, max: 10 })
    const auth = betterAuth(peerOptions(pool))
    const app = express.default()
    app.get('/me', async (asked, response) => {
      const found = await auth.api.getSession({ headers: fromNodeHeaders(asked.headers) })
      if (found === null) return response.status(401).end()
      return response.json({ user: found.user.id })
    })
    await firstReply(app, { cookie: credential })
  },
}

function options(backend, key) {
  const quiet = () => {}
  return {
    backend,
    keys: { current: key.privatePem },
    env: {},
    configKeys: [{ id: 'bench', key: Buffer.alloc(32, 7).toString('base64') }],
    issuer: 'http://localhost:25999',
    surfaces: {
      operator: { baseUrl: 'http://localhost:25999' },
      client: { baseUrl: 'http://localhost:25998' },
    },
    mailer: { async send() {} },
    logger: { debug: quiet, info: quiet, warn: quiet, error: console.error },
  }
}

function peerOptions(database) {
  return {
    database,
    baseURL: 'http://127.0.0.1:25997',
    secret: 'bench-secret-bench-secret-bench-secret-0123456789',
    emailAndPassword: { enabled: true },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: { level: 'error' },
  }
}

function firstReply(app, headers) {
  return new Promise((resolve, reject) => {
    const server = app.listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      const asked = request({ host: '127.0.0.1', port, path: '/me', headers }, (response) => {
        response.resume().on('end', () => {
          if (response.statusCode === 200) resolve()
          else reject(new Error(`the first reply is ${response.statusCode}`))
        })
      })
      asked.on('error', reject).end()
    })
  })
}

const [, , contender, given] = process.argv
const construction = await contenders[contender](JSON.parse(given))
// Process start is where performance.now() begins.
const ready = performance.now()
const { user, system } = process.cpuUsage()
const { rss } = process.memoryUsage()
process.stdout.write(JSON.stringify({ ready, cpu: user + system, rss, construction }))
process.exit(0)
