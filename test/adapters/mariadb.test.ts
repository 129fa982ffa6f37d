import { createPool } from 'mariadb'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { mariadb } from '../../adapters/mariadb/index.js'
import {
  conformance,
  counterCases,
  denylistCases,
  leaseCases,
  storeCases,
} from '../../src/testing/index.js'
import { testEach } from '../support/stores/each-case.js'

const url = inject('mariadbUrl')
const title = url ? 'mariadb' : 'mariadb (MariaDB not found)'

describe.skipIf(!url)(title, () => {
  const pool = createPool(url ?? '')
  afterAll(() => pool.end())

  testEach('mariadb', conformance({ open: ({ through }) => ({ backend: mariadb(through(pool)) }) }))
})

describe.skipIf(!url).each(['read committed', 'serializable'])(
  `${title}, where the host's isolation is %s`,
  (isolation) => {
    const pool = createPool(
      `${url}?initSql=${encodeURIComponent(`set session transaction isolation level ${isolation}`)}`,
    )
    afterAll(() => pool.end())
    const make = async () => mariadb(pool)

    it('has that isolation', async () => {
      const [row] = await pool.query('select @@tx_isolation as isolation')
      expect(row.isolation).toBe(isolation.toUpperCase().replace(' ', '-'))
    })

    const racing = /race|parallel|racing|eight|insert and an update|take without a guard/

    testEach(
      'store',
      storeCases(make).filter(({ name }) => racing.test(name)),
    )
    testEach('denylist', denylistCases(make))
    testEach('lease', leaseCases(make))
    testEach('counter', counterCases(make))
  },
)
