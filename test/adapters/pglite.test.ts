import { PGlite } from '@electric-sql/pglite'
import { afterAll, afterEach, describe } from 'vitest'
import { postgres } from '../../adapters/postgres/index.js'
import {
  counterCases,
  denylistCases,
  leaseCases,
  lostAnswerCases,
  storeCases,
} from '../../src/testing/index.js'
import { testEach } from '../support/each-case.js'
import { losingClient } from '../support/losing-client.js'

const database = new PGlite()
let schemas = 0

const nextSchema = () => `case_${++schemas}`
const make = async () => postgres(database, { schema: nextSchema() })

describe('postgres on PGlite', () => {
  afterEach(() => database.query(`drop schema if exists case_${schemas} cascade`))
  afterAll(() => database.close())

  testEach('store', storeCases(make))
  testEach('denylist', denylistCases(make))
  testEach('lease', leaseCases(make))
  testEach('counter', counterCases(make))
  testEach(
    'lost answer',
    lostAnswerCases(async () => {
      const { client, loseNextAnswer } = losingClient(database)
      return { backend: postgres(client, { schema: nextSchema() }), loseNextAnswer }
    }),
  )
})
