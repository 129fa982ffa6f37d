// Postern over tables of a given size. Each answer of `measure` is the middle of so many calls of one
// operation, in microseconds. Passwords are not hashed: what is measured is the store.
import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { contender } from './contender.mjs'
import { copyRow, poolOf, statementsOf, uuidOf, uuidText } from './shared/database.mjs'
import { partsOf, signerOf } from './shared/keys.mjs'
import { askerOf, authOn, backendOf, clientUrl, password, signIn } from './shared/postern.mjs'

const day = 86_400_000
const bareRead = 'user by id, by the driver alone'
const collections = {}
let operations = {}
let pool = null

contender({
  async start({ postgres, redis, key, rows }) {
    pool = postgres === null ? null : poolOf(postgres)
    const opened = await backendOf({ store: pool === null ? 'redis' : 'postgres', pool, redis })
    const backend = {
      ...opened,
      store: {
        ...opened.store,
        collection(spec) {
          collections[spec.name] = opened.store.collection(spec)
          return collections[spec.name]
        },
      },
    }
    const options = {
      hash: { implementation: stub },
      sweep: false,
      settings: { accessTokenTTL: '24h' },
    }
    const auth = await authOn({ backend, key }, options)
    const real = await signIn(auth, 'growth@example.test')
    await endOne(auth)
    await (pool === null ? fillRedis(backend, rows, real) : fillPostgres(rows, real))
    const bare = pool === null ? await bareRedis(redis) : barePostgres
    operations = operationsOf({ auth, backend, key, rows, real, bare })
    for (const work of Object.values(operations)) for (let i = 0; i < 5; i += 1) await work()
    return Object.keys(operations)
  },
  async measure({ operation, calls }) {
    const work = operations[operation]
    const times = []
    for (let call = 0; call < calls; call += 1) {
      const from = performance.now()
      await work()
      times.push((performance.now() - from) * 1000)
    }
    return times.sort((a, b) => a - b)[times.length >> 1]
  },
  scans,
  weights,
})

const phc = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`
const stub = { hash: async () => phc, verify: async () => true }

/** Somebody signs out, so that the denylist has an entry to multiply. */
async function endOne(auth) {
  const { accessToken } = await signIn(auth, 'growth@example.test')
  const ask = askerOf(auth.client, clientUrl)
  await ask('POST', '/v1/auth/client/logout', { token: accessToken, body: {} })
}

const userCount = (rows) => Math.ceil(rows / 4)

async function fillPostgres(rows, { user, refreshToken }) {
  const { sid } = partsOf(refreshToken).claims
  const owner = uuidOf('1', `(1 + i % ${userCount(rows)})`)
  const tables = {
    client_users: {
      where: `id = '${user.id}'`,
      count: userCount(rows),
      set: { id: uuidOf('1', 'i'), email: `'g' || i || '@example.test'` },
    },
    client_sessions: { where: `id = '${sid}'`, set: { id: uuidOf('2', 'i'), user_id: owner } },
    client_refresh_tokens: {
      where: `id = '${sid}'`,
      set: { id: uuidOf('2', 'i'), user_id: owner },
    },
    client_audit_records: {
      where: 'true',
      set: { id: uuidOf('5', 'i'), actor_id: owner, target_id: owner },
    },
    postern_denylist: { where: 'true', set: { id: `'client:session:' || ${uuidOf('6', 'i')}` } },
    postern_counters: {
      where: 'true',
      set: { id: `'client:refreshFamily:' || ${uuidOf('7', 'i')}` },
    },
  }
  for (const [table, row] of Object.entries(tables)) {
    // An index is made faster of a whole table than row by row.
    const { rows: indexes } = await pool.query(
      `select indexname as name, indexdef as made from pg_indexes
        where schemaname = 'postern' and tablename = $1 and indexname not like '%pkey'`,
      [table],
    )
    for (const { name } of indexes) await pool.query(`drop index postern."${name}"`)
    await copyRow(pool, { table: `postern.${table}`, count: rows, ...row })
    for (const { made } of indexes) await pool.query(made)
  }
  await pool.query('vacuum analyze')
  await pool.query('checkpoint')
}

async function fillRedis(backend, rows, { user, refreshToken }) {
  const { sid } = partsOf(refreshToken).claims
  const owner = (number) => uuidText('1', 1 + (number % userCount(rows)))
  const fill = async (count, insert) => {
    let next = 0
    const lane = async () => {
      while (next < count) {
        next += 1
        await insert(next)
      }
    }
    await Promise.all(Array.from({ length: 200 }, lane))
  }
  const { client_users, client_sessions, client_refresh_tokens } = collections
  const known = await client_users.get(user.id)
  await fill(userCount(rows), (number) => {
    const email = `g${number}@example.test`
    return client_users.insert({ ...known, id: uuidText('1', number), email })
  })
  // A row takes 1.7 KB there, so of sessions there are as many as users.
  const counts = new Map([
    [client_sessions, userCount(rows)],
    [client_refresh_tokens, rows],
  ])
  for (const [collection, count] of counts) {
    const row = await collection.get(sid)
    await fill(count, (number) => {
      return collection.insert({ ...row, id: uuidText('2', number), userId: owner(number) })
    })
  }
  await fill(Math.ceil(rows / 100), (batch) =>
    backend.denylist.put(
      Array.from({ length: 100 }, (_, index) => ({
        id: `client:session:${uuidText('6', batch * 100 + index)}`,
        reason: 'revoked',
        expiresAt: Date.now() + day,
      })),
    ),
  )
}

/** A user read by the driver alone: what more rows cost this machine, whatever the library does. */
function barePostgres(id) {
  const text = 'select * from postern.client_users where id = $1'
  return pool.query({ name: 'bare', text, values: [id] })
}

async function bareRedis({ url, prefix }) {
  const { createClient } = await import('redis')
  const client = createClient({ url })
  client.on('error', console.error)
  await client.connect()
  return (id) => client.hGetAll(`{${prefix}client_users}:d:${id}`)
}

function operationsOf({ auth, backend, key, rows, real, bare }) {
  const ask = askerOf(auth.client, clientUrl)
  const any = (count) => randomInt(1, Math.max(1, count) + 1)
  const person = () => uuidText('1', any(userCount(rows)))
  const session = () => uuidText('2', any(rows))
  const { client_users, client_sessions, client_refresh_tokens, client_audit_records } = collections
  const { signed } = signerOf(key)
  const refresh = partsOf(real.refreshToken)
  const access = partsOf(real.accessToken)
  const families = Array.from({ length: 64 }, (_, index) => {
    const number = 1 + ((index * 7919) % rows)
    const sub = uuidText('1', 1 + (number % userCount(rows)))
    const claims = { sub, sid: uuidText('2', number), jti: randomUUID() }
    return {
      refreshToken: signed(refresh.head, { ...refresh.claims, ...claims }),
      accessToken: signed(access.head, { ...access.claims, ...claims }),
    }
  })
  let turn = 0
  const family = () => {
    turn += 1
    return families[turn % families.length]
  }
  const common = {
    [bareRead]: () => bare(person()),
    'user by address': () =>
      client_users.find({ email: `g${any(userCount(rows))}@example.test` }, { limit: 1 }),
    'user by id': () => client_users.get(person()),
    'newest sessions of a user': () =>
      client_sessions.find({ userId: person() }, { limit: 100, newestFirst: true }),
    'refresh family by id': () => client_refresh_tokens.get(session()),
    'denylist, two ids': () =>
      backend.denylist.find([`client:session:${session()}`, `client:token:${session()}`]),
    'counter, a new key': () =>
      backend.counter.hit(`client:new:${randomBytes(16).toString('hex')}`, 60_000, 100, Date.now()),
    'whole authentication': () => auth.client.authenticate(`Bearer ${family().accessToken}`),
    'whole refresh': async () => {
      const chain = family()
      const body = { refreshToken: chain.refreshToken }
      const reply = await ask('POST', '/v1/auth/client/refresh', { body })
      chain.refreshToken = reply.refreshToken
    },
    'whole login, no hash': () =>
      ask('POST', '/v1/auth/client/mobile/login', {
        body: { email: `g${any(userCount(rows))}@example.test`, password },
      }),
  }
  if (pool === null) return common
  return {
    ...common,
    'audit records of a user': () =>
      client_audit_records.find({ targetId: person() }, { limit: 51, newestFirst: true }),
    'a page of users': () =>
      client_users.find(
        { kind: '' },
        { limit: 50, after: uuidText('1', any(userCount(rows) >> 1)) },
      ),
    'sweep of sessions, none due': () => client_sessions.sweep(Date.now() - 10 * day, 5000),
    'sweep of the denylist, none due': () => backend.denylist.sweep(Date.now() - 10 * day, 5000),
  }
}

/** The operations whose statements read a whole table, or sort more than 1,000 rows of it. */
async function scans() {
  const found = []
  for (const [name, work] of Object.entries(operations)) {
    const { plans } = await statementsOf(work)
    for (const { text, values } of plans) {
      if (!/^\s*(?:with|select|insert|update|delete)\b/i.test(text)) continue
      const { rows } = await pool.query(`explain (format json) ${text}`, values)
      const nodes = nodesOf(rows[0]['QUERY PLAN'][0].Plan)
      const bad = nodes.filter(
        (node) =>
          (node['Node Type'] === 'Seq Scan' && node['Plan Rows'] > 1000) ||
          (node['Node Type'] === 'Sort' && node['Plan Rows'] > 1000),
      )
      for (const node of bad) found.push(`${name}: ${node['Node Type']} ${text.slice(0, 100)}`)
    }
  }
  return found
}

const nodesOf = (node) => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

/** What each table that was filled takes on the disk: its rows, and its indexes with their pages beside, in bytes. */
async function weights() {
  const { rows } = await pool.query(
    `select relname as table, reltuples::float8 as rows, pg_table_size(oid)::float8 as own,
            pg_indexes_size(oid)::float8 as indexes
       from pg_class
      where relnamespace = 'postern'::regnamespace and relkind = 'r' and reltuples >= 100 and relname <> 'postern_migrations'
      order by relname`,
  )
  return rows
}
