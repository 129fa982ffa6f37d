import type { PoolClient } from 'pg'
import { describe, expect, inject, it } from 'vitest'
import { postgres } from '../../adapters/postgres/index.js'
import { allCollectionSpecs } from '../../src/model/collections.js'
import type { AnyCollectionSpec, CollectionSpec, Doc } from '../../src/ports/store.js'
import { keyedCalls } from '../support/stores/keyed-calls.js'
import { schemasOf } from '../support/stores/postgres-schemas.js'
import { recordingClient, type Statement } from '../support/stores/recording-client.js'

const url = inject('postgresUrl')
const title = url ? 'postgres plans' : 'postgres plans (Postgres not found)'

/** Enough that reading all of them is never the cheapest plan for a few. */
const rows = 3000
const expiredRows = 30
const noon = Date.UTC(2030, 5, 15, 12)

describe.skipIf(!url)(title, () => {
  const { pool, schema } = schemasOf(url)

  it('no statement of a request reads a table or an index value whole, by a plan for its values or for any', async () => {
    const name = schema()
    const { client, sent } = recordingClient(pool)
    const { store, denylist, counter } = postgres(client, { schema: name })
    const specs = allCollectionSpecs('')
    await store.prepare(specs)
    for (const spec of specs) await fill(name, spec)
    for (const table of ['postern_denylist', 'postern_counters']) await fillOwn(name, table)

    const plans: { readonly what: string; readonly plan: string; readonly sorts: boolean }[] = []
    const session = await pool.connect()
    try {
      const explain = async (what: string, sorts: boolean, call: () => Promise<unknown>) => {
        sent.length = 0
        await call()
        for (const statement of sent) {
          for (const mode of ['force_custom_plan', 'force_generic_plan']) {
            const plan = await planOf(session, mode, statement)
            plans.push({ what: `${what}, ${mode}`, plan, sorts })
          }
        }
      }
      for (const spec of specs) {
        const collection = store.collection(spec as CollectionSpec<Doc>)
        for (const [what, sorts, call] of keyedCalls(spec, collection)) {
          await explain(`${spec.name}.${what}`, sorts, call)
        }
      }
      for (const count of [1, 5, 30, 64]) {
        const ids = Array.from({ length: count }, (_, at) => `id${at}`)
        await explain(`denylist.find of ${count}`, false, () => denylist.find(ids))
      }
      await explain('counter.hit', false, () => counter.hit('id7', 1000, 5, noon))
      await explain('counter.forgive', false, () => counter.forgive('id7', 1))
      await explain('counter.forgive of all', false, () => counter.forgive('id8'))
    } finally {
      session.release(true)
    }
    expect(plans.length).toBeGreaterThan(400)
    const whole = plans.filter(({ plan, sorts }) => {
      return /Seq Scan/.test(plan) || (!sorts && /Sort/.test(plan))
    })
    expect(whole).toEqual([])
  }, 120_000)

  async function fill(name: string, spec: AnyCollectionSpec): Promise<void> {
    const fields = Object.keys(spec.fields)
    const expiry = spec.expires === 'never' ? [] : ['expires_at']
    const columns = ['id', ...expiry, ...fields.map(snake)]
    const late = `timestamptz '2031-01-01' + n * interval '1 hour'`
    const times = `case when n > ${expiredRows} then ${late} else timestamptz '2030-01-01' end`
    const values = [`'id' || n`, ...expiry.map(() => times), ...fields.map((at) => sqlOf(spec, at))]
    await pool.query(
      `insert into "${name}"."${spec.name}" (${columns.map((it) => `"${it}"`).join(', ')})
       select ${values.join(', ')} from generate_series(1, ${rows}) as n`,
    )
    await pool.query(`analyze "${name}"."${spec.name}"`)
  }

  async function fillOwn(name: string, table: string): Promise<void> {
    const [columns, values] = table.endsWith('denylist')
      ? ['reason', `'revoked'`]
      : ['hits, allowed', '1, true']
    await pool.query(
      `insert into "${name}"."${table}" (id, expires_at, ${columns})
       select 'id' || n, timestamptz '2031-01-01', ${values} from generate_series(1, ${10 * rows}) as n`,
    )
    await pool.query(`analyze "${name}"."${table}"`)
  }
})

const snake = (field: string): string => field.replace(/[A-Z]/g, (it) => `_${it.toLowerCase()}`)

const isUnique = (spec: AnyCollectionSpec, field: string): boolean =>
  spec.indexes.some(({ on, unique }) => unique === true && on.at(-1) === field)

/** What narrows an index behind another field: a person has few rows of each. */
const isNarrow = (spec: AnyCollectionSpec, field: string): boolean =>
  spec.indexes.some(({ on }) => on.length > 1 && on.at(-1) === field)

/** Unique where an index needs it, a few rows of each where it narrows one, else one of ten: more than a page of each. */
function sqlOf(spec: AnyCollectionSpec, field: string): string {
  const narrow = isNarrow(spec, field) ? '(n % 1000)' : '(n % 10)'
  const number = isUnique(spec, field) ? 'n' : narrow
  switch (spec.fields[field]?.kind) {
    case 'integer':
      return number
    case 'boolean':
      return 'n % 2 = 0'
    case 'time':
      return `timestamptz 'epoch' + ${number} * interval '1 second'`
    case 'json':
      return `'{}'::jsonb`
    default:
      return `'${field}' || ${number}`
  }
}

async function planOf(session: PoolClient, mode: string, { text, values }: Statement) {
  await session.query(`set plan_cache_mode = ${mode}`)
  await session.query(`prepare statement_of_test as ${text}`)
  try {
    const given = values.map((value) =>
      value === null ? 'null' : session.escapeLiteral(`${value}`),
    )
    const execute = `execute statement_of_test${given.length > 0 ? `(${given.join(', ')})` : ''}`
    const { rows: lines } = await session.query(`explain (costs off) ${execute}`)
    return lines.map((line) => line['QUERY PLAN']).join('\n')
  } finally {
    await session.query('deallocate statement_of_test')
  }
}
