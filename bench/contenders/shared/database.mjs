// Pools that count their statements, and rows in number.
import { setImmediate as turn } from 'node:timers/promises'
import pg from 'pg'

/** @typedef {{ text: string, values: unknown[], sentAt: number, answeredAt: number }} Sent */

/** @type {Sent[] | null} null while nothing is recorded */
let recorded = null

/** Each statement is sent so many turns of the event loop after it was asked for. */
let turnsHeld = 0

const query = pg.Client.prototype.query
pg.Client.prototype.query = function recording(...args) {
  if (recorded === null) return query.apply(this, args)
  const text = typeof args[0] === 'string' ? args[0] : (args[0]?.text ?? '')
  const values = args[0]?.values ?? (Array.isArray(args[1]) ? args[1] : [])
  const sentAt = performance.now()
  const entry = { text, values, sentAt, answeredAt: Number.POSITIVE_INFINITY }
  recorded.push(entry)
  const answered = () => {
    entry.answeredAt = performance.now()
  }
  const last = args.length - 1
  const callback = args[last]
  if (typeof callback === 'function') {
    args[last] = (...reply) => {
      answered()
      callback(...reply)
    }
  }
  const answer =
    turnsHeld === 0 ? query.apply(this, args) : turns(turnsHeld).then(() => query.apply(this, args))
  // A call with a callback is answered there.
  if (typeof callback !== 'function' && typeof answer?.then === 'function')
    answer.then(answered, answered)
  return answer
}

async function turns(count) {
  for (let time = 0; time < count; time += 1) await turn()
}

/**
 * A pool as a host makes it. Connections that are idle stay open: while the other contenders have
 * their turn, they would be closed, and the next turn would pay for new ones.
 */
export function poolOf(url, max = 10) {
  const pool = new pg.Pool({ connectionString: url, max, idleTimeoutMillis: 0 })
  pool.on('error', console.error)
  return pool
}

/** Opens all connections of a pool: one that is opened in a wave of statements makes two waves of it. */
export async function openAll(pool) {
  const clients = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()))
  for (const client of clients) client.release()
}

/** What no reply waits for: audit records, and where a login came from. */
const isBeside = ({ text }) =>
  /^\s*(?:insert|update|delete|with)\b.*_(?:audit_records|known_logins)"/is.test(text)

/**
 * Records what the pools of this process send while `work` runs, and for 200 ms afterwards. Of what
 * was sent before it ended: `statements`, how many of them are `writes`, and `trips`, which is how
 * many were waited for one after the other. Of the rest: `later`.
 */
export async function statementsOf(work) {
  recorded = []
  await work()
  const endedAt = performance.now()
  await new Promise((resolve) => setTimeout(resolve, 200))
  const all = recorded
  recorded = null
  return countsOf(
    all,
    all.filter(({ sentAt }) => sentAt <= endedAt),
  )
}

/**
 * The same of one request, exactly. `rest` resolves once nothing goes on any more: what an earlier request
 * left to be done would be counted too. Every statement is held until those beside it are asked for, so
 * that no quick answer parts them, and what no reply waits for is `later`, whenever it was sent.
 */
export async function tripsOfOne(work, rest) {
  await rest()
  turnsHeld = 5
  recorded = []
  await work()
  const endedAt = performance.now()
  await rest()
  const all = recorded
  recorded = null
  turnsHeld = 0
  return countsOf(
    all,
    all.filter((one) => one.sentAt <= endedAt && !isBeside(one)),
  )
}

function countsOf(all, sent) {
  const writes = sent.filter(({ text }) => /^\s*(?:insert|update|delete|with)\b/i.test(text))
  return {
    statements: sent.length,
    writes: writes.length,
    trips: tripsOf(sent),
    later: all.length - sent.length,
    texts: all.map(({ text }) => text),
    plans: all.map(({ text, values }) => ({ text, values })),
  }
}

/** A trip begins with a statement that is sent when one of the trip before was answered. */
function tripsOf(sent) {
  let trips = 0
  let tripEnds = Number.NEGATIVE_INFINITY
  for (const { sentAt, answeredAt } of sent) {
    if (sentAt >= tripEnds) {
      trips += 1
      tripEnds = answeredAt
    } else {
      tripEnds = Math.min(tripEnds, answeredAt)
    }
  }
  return trips
}

/**
 * Multiplies one row: `count` copies with the numbers 1, 2, … as `i`, in which the columns of `set`
 * have the given SQL expressions and all others stay as they are.
 */
export async function copyRow(pool, { table, where, count, set }) {
  const [schema, name] = table.split('.')
  const { rows } = await pool.query(
    `select column_name as name from information_schema.columns
      where table_schema = $1 and table_name = $2 and is_generated = 'NEVER'`,
    [schema, name],
  )
  const columns = rows.map((row) => row.name)
  for (const column of Object.keys(set)) {
    if (!columns.includes(column)) throw new Error(`${table} has no column ${column}`)
  }
  const values = columns.map((column) => set[column] ?? `source."${column}"`)
  const quoted = columns.map((column) => `"${column}"`)
  await pool.query(
    `insert into "${schema}"."${name}" (${quoted.join(', ')})
      select ${values.join(', ')}
      from (select * from "${schema}"."${name}" where ${where} limit 1) source
      cross join generate_series(1, ${count}) i`,
  )
}

/** SQL for the text of a UUID of version 7 made of a tag (one hex digit) and a number below 2^28. */
export function uuidOf(tag, number) {
  const hex = `lpad(to_hex(${number}), 7, '0')`
  const tail = `lpad(to_hex(${number}), 12, '0')`
  return `'0199${tag}' || substr(${hex}, 1, 3) || '-' || substr(${hex}, 4, 4) || '-7000-a000-' || ${tail}`
}

/** The same, made here. */
export function uuidText(tag, number) {
  const hex = number.toString(16).padStart(7, '0')
  return `0199${tag}${hex.slice(0, 3)}-${hex.slice(3)}-7000-a000-${number.toString(16).padStart(12, '0')}`
}
