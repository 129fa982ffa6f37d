import { PGlite } from '@electric-sql/pglite'
import { afterAll, afterEach, beforeAll, describe } from 'vitest'
import { postgres } from '../../adapters/postgres/index.js'
import { conformance } from '../../src/testing/index.js'
import { testEach } from '../support/stores/each-case.js'

const database = new PGlite()
let schemas = 0

describe('postgres on PGlite', () => {
  beforeAll(() => database.waitReady)
  afterEach(() => database.query(`drop schema if exists case_${schemas} cascade`))
  afterAll(() => database.close())

  testEach(
    'pglite',
    conformance({
      open: ({ through }) => ({
        backend: postgres(through(database), { schema: `case_${++schemas}` }),
      }),
    }),
  )
})
