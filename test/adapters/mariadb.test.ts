import { createPool } from 'mariadb'
import { afterAll, describe, inject } from 'vitest'
import { mariadb } from '../../adapters/mariadb/index.js'
import { conformance } from '../../src/testing/index.js'
import { testEach } from '../support/stores/each-case.js'

const url = inject('mariadbUrl')

describe.skipIf(!url)(url ? 'mariadb' : 'mariadb (MariaDB not found)', () => {
  const pool = createPool(url ?? '')
  afterAll(() => pool.end())

  testEach('mariadb', conformance({ open: ({ through }) => ({ backend: mariadb(through(pool)) }) }))
})
