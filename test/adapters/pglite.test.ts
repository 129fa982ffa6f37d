import { PGlite } from '@electric-sql/pglite'
import { afterAll, afterEach, beforeAll, describe, inject } from 'vitest'
import { postgres } from '../../adapters/postgres/index.js'
import { conformance } from '../../src/testing/index.js'
import { testEach } from '../support/stores/each-case.js'

const database = new PGlite()
let schemas = 0

/** Each case migrates a schema of its own, so the fast shelf takes a sample of them. */
const stride = inject('shelf') === 'fast' ? 16 : 1

describe('postgres on PGlite', () => {
  beforeAll(() => database.waitReady)
  afterEach(() => database.query(`drop schema if exists case_${schemas} cascade`))
  afterAll(() => database.close())

  testEach(
    'pglite',
    conformance({
      open({ through }) {
        const schema = `case_${++schemas}`
        const openAgain = () => postgres(through(database), { schema })
        return { backend: openAgain(), openAgain }
      },
    }).filter((_case, index) => index % stride === 0),
  )
})
