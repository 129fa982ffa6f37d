// What each operation of Postern sends to Postgres, counted. The first of each kind is not counted, so that
// a window is open and every statement was prepared.
import { roleAuthorizer } from 'postern'
import { contender } from './contender.mjs'
import { openAll, poolOf, tripsOfOne } from './shared/database.mjs'
import { operatorOf, serviceAccountOf } from './shared/operator.mjs'
import {
  askerOf,
  authOn,
  backendOf,
  clientUrl,
  operatorUrl,
  password,
  signIn,
} from './shared/postern.mjs'

const own = '/v1/auth/client'
const email = 'counted@example.test'
const environment = '/v1/admin/modules/auth/environments/production'

/** Of a session's requests within a minute the third is the first whose count is reported. */
const unreported = 2

let parts

contender({
  async start({ postgres, key }) {
    const pool = poolOf(postgres)
    const backend = await backendOf({ store: 'postgres', pool })
    const auth = await authOn({ backend, key }, { authorizer: roleAuthorizer(), sweep: false })
    await openAll(pool)
    parts = { pool, auth }
  },
  counts,
  preparedStatements,
})

/** By the name of the operation: statements, trips and writes before the reply, and what comes later. */
async function counts() {
  const counted = {}
  for (const [name, { before = 1, work }] of Object.entries(await operations())) {
    for (let time = 0; time < before; time += 1) await work()
    const { texts, plans: _plans, ...rest } = await tripsOfOne(work, () => parts.auth.close())
    counted[name] = { ...rest, texts: texts.map(short) }
  }
  return counted
}

const short = (text) => text.replaceAll(/\s+/g, ' ').slice(0, 120)

async function operations() {
  const { auth } = parts
  const client = askerOf(auth.client, clientUrl)
  const machine = askerOf(auth.operator, operatorUrl)
  const operator = await operatorOf(auth)
  const account = await serviceAccountOf(auth)
  let session = await signIn(auth, email)
  const login = () => client('POST', `${own}/mobile/login`, { body: { email, password } })
  const logins = [await login(), await login(), await login(), await login()]
  // Each asks once: the first in its window.
  const readers = [await operatorOf(auth), await operatorOf(auth)]
  const people = [await signIn(auth, 'one@example.test'), await signIn(auth, 'two@example.test')]
  const reporting = await operatorOf(auth)
  let settings = 0
  const patch = () => {
    settings += 1
    return operator.ask('PATCH', environment, { config: { totpIssuer: `Bench ${settings}` } })
  }
  return {
    'authenticate, requireUser': {
      work: () => auth.client.authenticate(`Bearer ${session.accessToken}`),
    },
    'GET /me': { work: () => client('GET', `${own}/me`, { token: people.pop().accessToken }) },
    'GET /me, reported': {
      before: unreported,
      work: () => client('GET', `${own}/me`, { token: session.accessToken }),
    },
    'login, one beside the hash': { work: login },
    'login, wrong password, one beside the hash': {
      work: () =>
        client('POST', `${own}/mobile/login`, {
          body: { email, password: 'wrong horse battery staple' },
          expected: 401,
        }),
    },
    refresh: {
      work: async () => {
        const body = { refreshToken: session.refreshToken }
        session = await client('POST', `${own}/refresh`, { body })
      },
    },
    'grant, again': {
      work: () =>
        machine('POST', '/v1/auth/token', {
          body: {
            grantType: 'client_credentials',
            clientId: account.clientId,
            clientSecret: account.clientSecret,
          },
        }),
    },
    'logout by the bearer': {
      work: () => client('POST', `${own}/logout`, { token: logins.pop().accessToken, body: {} }),
    },
    'logout by the body': {
      work: () =>
        client('POST', `${own}/logout`, { body: { refreshToken: logins.pop().refreshToken } }),
    },
    'GET an environment': { work: () => readers.pop().ask('GET', environment) },
    'GET an environment, reported': {
      before: unreported,
      work: () => reporting.ask('GET', environment),
    },
    'PATCH a setting, reported': { before: unreported, work: patch },
  }
}

/** The most that a connection of the pool holds, after all of the operations and many sizes of reads. */
async function preparedStatements() {
  const { auth, pool } = parts
  const { users } = auth.client
  for (let time = 0; time < 20; time += 1) {
    const pages = [1, 2, 3, 5, 8, 13].map((limit) => users.list({ limit: limit + time }))
    await Promise.all(pages)
  }
  const clients = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()))
  const held = await Promise.all(
    clients.map(async (client) => {
      const { rows } = await client.query(
        'select count(*)::int as held from pg_prepared_statements',
      )
      return rows[0].held
    }),
  )
  for (const client of clients) client.release()
  return Math.max(...held)
}
