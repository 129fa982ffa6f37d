// The removal of expired rows from a table of a given size, in batches of 5,000: by Postern's store, by the
// bare statement on the same table, and as better-auth's columns allow it.
import { contender } from './contender.mjs'
import { copyRow, poolOf, uuidOf } from './shared/database.mjs'
import { partsOf } from './shared/keys.mjs'
import { authOn, backendOf, signIn } from './shared/postern.mjs'

const batch = 5000
const table = 'postern.client_refresh_tokens'
let pool
let families
let peer = false

contender({
  /** `batches` is how many each contender will remove. */
  async start({ postgres, key, rows, batches, withPeer }) {
    pool = poolOf(postgres, 2)
    peer = withPeer
    const opened = await backendOf({ store: 'postgres', pool })
    const backend = {
      ...opened,
      store: {
        ...opened.store,
        collection(spec) {
          const collection = opened.store.collection(spec)
          if (spec.name === 'client_refresh_tokens') families = collection
          return collection
        },
      },
    }
    const auth = await authOn({ backend, key }, { sweep: false })
    const { refreshToken } = await signIn(auth, 'sweep@example.test')
    const { sid } = partsOf(refreshToken).claims
    await fill(sid, rows, batches)
    return null
  },
  remove,
  removeDry,
})

const firstDue = Date.now() - 30 * 86_400_000
const dueAt = (wave) => firstDue + wave * 6 * 3_600_000
let swept = 0
let sweptOfPeer = 0

/**
 * Rows fall due a batch at a time, every six hours from thirty days ago on, as many as are removed then.
 * They lie evenly among the others. So each sweep finds about one batch, and no great backlog.
 */
async function fill(sid, rows, batches) {
  const each = Math.floor(rows / (batches * batch))
  const expires = `case when i % ${each} = 0
    then timestamptz '${new Date(firstDue).toISOString()}'
      + (i / ${each} % ${batches}) * interval '6 hours'
    else now() + interval '6 days' - (i % 86400) * interval '1 second' end`
  await copyRow(pool, {
    table,
    where: `id = '${sid}'`,
    count: rows,
    set: { id: uuidOf('8', 'i'), user_id: uuidOf('1', 'i'), expires_at: expires },
  })
  if (peer) {
    await pool.query(
      `create table peer_sessions (id text primary key, expires_at timestamptz not null,
        token text unique not null, "createdAt" timestamptz default now(),
        "updatedAt" timestamptz default now(), "ipAddress" text, "userAgent" text,
        "userId" text not null)`,
    )
    await pool.query('create index on peer_sessions ("userId")')
    await pool.query(
      `insert into peer_sessions select ${uuidOf('2', 'i')}, ${expires}, md5(i::text), now(), now(),
        '203.0.113.7', 'Mozilla/5.0 (X11; Linux x64)', ${uuidOf('1', 'i')}
        from generate_series(1, ${rows}) i`,
    )
  }
  await pool.query('vacuum analyze')
  await pool.query('checkpoint')
}

/** Each removes a batch of what was due at a time. */
const kinds = {
  postern: async (before) => (await families.sweep(before, batch)).removed,
  'bare statement': async (before) => {
    const { rowCount } = await pool.query(
      `delete from ${table} where ctid = any(array(select ctid from ${table}
        where _expires_day <= ($1::timestamptz at time zone 'UTC')::date and expires_at <= $1
        order by _expires_day limit ${batch} for update skip locked))`,
      [new Date(before)],
    )
    return rowCount
  },
  "better-auth's columns": async (before) => {
    const { rowCount } = await pool.query(
      `delete from peer_sessions where id in
        (select id from peer_sessions where expires_at < $1 limit ${batch})`,
      [new Date(before)],
    )
    return rowCount
  },
}

/** The next wave of the table that a contender works on has fallen due, and no later one. */
function nextBefore(kind) {
  if (kind === "better-auth's columns") {
    sweptOfPeer += 1
    return dueAt(sweptOfPeer - 1) + 1
  }
  swept += 1
  return dueAt(swept - 1) + 1
}

/** Removes one batch; milliseconds. */
async function remove({ kind }) {
  const before = nextBefore(kind)
  const from = performance.now()
  const removed = await kinds[kind](before)
  const took = performance.now() - from
  if (removed !== batch) throw new Error(`${kind} removed ${removed} rows`)
  return took
}

/** Looks where nothing is due any more; milliseconds. */
async function removeDry({ kind }) {
  while ((await kinds[kind](Date.now())) > 0);
  await pool.query('vacuum')
  const from = performance.now()
  await kinds[kind](Date.now())
  return performance.now() - from
}
