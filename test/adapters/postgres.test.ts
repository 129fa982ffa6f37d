import { describe, inject } from 'vitest'
import { postgres } from '../../adapters/postgres/index.js'
import {
  conformance,
  counterCases,
  denylistCases,
  leaseCases,
  storeCases,
} from '../../src/testing/index.js'
import { testEach } from '../support/stores/each-case.js'
import { schemasOf } from '../support/stores/postgres-schemas.js'

const url = inject('postgresUrl')
const title = url ? 'postgres' : 'postgres (Postgres not found)'

describe.skipIf(!url)(title, () => {
  const { pool, schema } = schemasOf(url)

  testEach(
    'postgres',
    conformance({
      open({ through }) {
        const own = schema()
        const openAgain = () => postgres(through(pool), { schema: own })
        return { backend: openAgain(), openAgain }
      },
    }),
  )
})

describe.skipIf(!url).each(['repeatable read', 'serializable'])(
  `${title}, where the host's default isolation is %s`,
  (isolation) => {
    const { pool, schema } = schemasOf(url, { default_transaction_isolation: isolation })
    const make = async () => postgres(pool, { schema: schema() })
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
