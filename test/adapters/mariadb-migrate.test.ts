import { createPool } from 'mariadb'
import { afterAll, afterEach, describe, expect, inject, it } from 'vitest'
import { mariadb } from '../../adapters/mariadb/index.js'

const url = inject('mariadbUrl')
const tablePrefix = 'tampered_'

describe.skipIf(!url)(url ? 'mariadb, what migrate refuses' : 'mariadb (MariaDB not found)', () => {
  const pool = createPool(url ?? '')
  const { store } = mariadb(pool, { tablePrefix })
  const table = `${tablePrefix}postern_counters`
  afterAll(() => pool.end())
  afterEach(() => pool.query(`drop table ${table}`))

  it('tables as it made them are taken once more', async () => {
    await store.prepare([])
    await store.prepare([])
  })

  it('a column that takes two texts for one is refused by name', async () => {
    await store.prepare([])
    const type = 'varchar(255) character set utf8mb4 collate utf8mb4_general_ci not null'
    await pool.query(`alter table ${table} modify id ${type}`)
    await expect(store.prepare([])).rejects.toThrow(
      /tampered_postern_counters`\.`id` was created as "varchar\(255\) collate utf8mb4_general_ci not null"/,
    )
  })

  it('a table of an engine without transactions is refused with the remedy', async () => {
    await store.prepare([])
    await pool.query(`alter table ${table} engine = Aria`)
    await expect(store.prepare([])).rejects.toThrow(
      'mariadb: table `tampered_postern_counters` has the engine Aria; change it: alter table `tampered_postern_counters` engine = InnoDB',
    )
  })
})
