import { readFileSync } from 'node:fs'
import { describe, expect, inject, it } from 'vitest'
import { postgres } from '../../adapters/postgres/index.js'
import { allCollectionSpecs, collectionsOf } from '../../src/model/collections.js'
import { schemasOf } from '../support/stores/postgres-schemas.js'

const url = inject('postgresUrl')
const title = `tables partitioned by their id${url ? '' : ' (Postgres not found)'}`
const page = readFileSync(new URL('../../docs/scaling.md', import.meta.url), 'utf8')

/** What the page has its reader run, for another table and schema. */
function advised(schema: string, table: string, columns: string): string {
  const [, text = ''] = /```sql\n(.*?)```/s.exec(page) ?? []
  expect(text).toContain('insert into postern.client_audit_records select * from')
  return text
    .replace('client_audit_records select *', `client_audit_records (${columns}) select ${columns}`)
    .replaceAll('client_audit_records', table)
    .replaceAll('audit_records_before', `${table}_before`)
    .replaceAll('postern.', `${schema}.`)
    .replaceAll(/^ {3}/gm, '')
}

const hour = 3_600_000
const noon = Date.UTC(2026, 5, 15, 12)
const partitioned = ['client_audit_records', 'client_sessions', 'client_refresh_tokens']

describe.skipIf(!url)(title, () => {
  const { pool, schema } = schemasOf(url)
  /** Those that are not generated. */
  const columnsOf = async (name: string, table: string): Promise<string> => {
    const { rows } = await pool.query(
      `select column_name as own from information_schema.columns
        where table_schema = $1 and table_name = $2 and is_generated = 'NEVER'`,
      [name, table],
    )
    return rows.map(({ own }) => `"${own}"`).join(', ')
  }

  it('keep their rows, take guarded writes and lose to the sweep what has expired, nothing else', async () => {
    const name = schema()
    const { store } = postgres(pool, { schema: name })
    await store.prepare(allCollectionSpecs(''))
    const { families } = collectionsOf(store, 'client', '')
    const family = (at: number) => ({
      id: `family-${String(at).padStart(4, '0')}`,
      userId: 'ada',
      loginAt: noon,
      sessionEpoch: 0,
      generation: 1,
      rotatedAt: noon,
      rotatedTo: 'newest',
      noReissueUpTo: 0,
      ...{ shown: 0, device: null, byDevice: false },
      rotatedBy: 'agent',
      delivery: 'body' as const,
      revokedAt: null,
      revokedReason: null,
      // Every second one has expired, so that its place in one partition is that of a live row in the other.
      expiresAt: at % 2 === 0 ? noon - hour : noon + hour,
    })
    for (let at = 0; at < 100; at += 1) await families.insert(family(at))
    for (const table of partitioned) {
      await pool.query(advised(name, table, await columnsOf(name, table)))
    }
    await store.prepare(allCollectionSpecs(''))
    for (let at = 100; at < 400; at += 1) await families.insert(family(at))
    const { rows: kinds } = await pool.query(
      `select relname from pg_class where relnamespace = $1::regnamespace and relkind = 'p' order by relname`,
      [name],
    )
    expect(kinds.map(({ relname }) => relname)).toEqual(partitioned.toSorted())

    const first = await families.get('family-0001')
    expect(first).toEqual(family(1))
    expect(await families.insert(family(1))).toBe(false)
    expect(await families.sweep(noon, 50)).toEqual({ removed: 50, left: 150 })
    expect(await families.sweep(noon, 5000)).toEqual({ removed: 150, left: 0 })
    const { rows } = await pool.query(`select id from ${name}.client_refresh_tokens order by id`)
    expect(rows.map(({ id }) => id)).toEqual(
      Array.from({ length: 400 }, (_, at) => family(at))
        .filter(({ expiresAt }) => expiresAt > noon)
        .map(({ id }) => id),
    )
  })
})
