import { DatabaseSync } from 'node:sqlite'
import { createPool } from 'mariadb'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { mariadbDialect } from '../../../adapters/mariadb/dialect.js'
import type { SqlDialect } from '../../../adapters/sql/dialect.js'
import { sqlBackend } from '../../../adapters/sql/index.js'
import type { SqlRow, SqlRun } from '../../../adapters/sql/sql-run.js'
import { sqliteDialect } from '../../../adapters/sqlite/dialect.js'
import { conformance, type Driver } from '../../../src/testing/index.js'
import { type PlantedStore, plantedStores } from './planted-stores.js'

type Through = Driver['through']

/** Where the clocks go back, an hour of the year has two instants. */
const zone = process.env['TZ']
beforeAll(() => {
  process.env['TZ'] = 'America/New_York'
})
afterAll(() => {
  if (zone === undefined) delete process.env['TZ']
  else process.env['TZ'] = zone
})

function sqliteRun(through: Through): SqlRun {
  const database = through(new DatabaseSync(':memory:'))
  return async (text, values) =>
    database
      .prepare(text)
      .all(...values)
      .map((row) => Object.values(row))
}

/** The cases that fail of those that the fault names, on the store with the fault or on the right one. */
async function failing(
  { found, dialect = {}, run = (right) => right }: Pick<PlantedStore, 'found' | 'dialect' | 'run'>,
  right: SqlDialect,
  connect: (through: Through) => SqlRun,
): Promise<readonly string[]> {
  const cases = conformance({
    open: ({ through }) => ({
      backend: sqlBackend(
        run(connect(through)),
        { ...right, ...dialect },
        { tablePrefix: prefix() },
      ),
    }),
  })
  const failed: string[] = []
  for (const name of found) {
    const one = cases.find((other) => other.name === name)
    if (one === undefined) throw new Error(`no case is called "${name}"`)
    await one.run().catch(() => failed.push(name))
  }
  return failed
}

let stores = 0
/** The tables of one wrong store are not those of the next. */
function prefix(): string {
  return `p${stores}_`
}

const of = (on: PlantedStore['on']) => plantedStores.filter((store) => store.on === on)

describe('the kit finds planted faults of SQL stores', () => {
  it('there are twelve', () => expect(plantedStores).toHaveLength(12))

  it.each(of('sqlite'))('on SQLite: $fault', async (planted) => {
    const { found } = planted
    expect(await failing({ found }, sqliteDialect, sqliteRun)).toEqual([])
    expect(await failing(planted, sqliteDialect, sqliteRun)).toEqual(found)
  })

  const url = inject('mariadbUrl')
  describe.skipIf(!url)(url ? 'on MariaDB' : 'on MariaDB (MariaDB not found)', () => {
    const pool = createPool(url ?? '')
    afterAll(() => pool.end())
    const connect = (through: Through): SqlRun => {
      const client = through(pool)
      return async (sql, values) => {
        const statement = { sql, rowsAsArray: true, metaAsArray: false }
        const rows: unknown = await client.query(statement, [...values])
        return Array.isArray(rows) ? (rows as readonly SqlRow[]) : []
      }
    }

    it.each(of('mariadb'))('$fault', async (planted) => {
      stores += 1
      const { found } = planted
      expect(await failing(planted, mariadbDialect, connect)).toEqual(found)
    })
  })
})
