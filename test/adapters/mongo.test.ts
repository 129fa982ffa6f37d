import { describe, inject, it } from 'vitest'
import { mongo } from '../../adapters/mongo/index.js'
import { conformance } from '../../src/testing/index.js'
import { mongoDatabases, mongoTitle } from '../support/stores/mongo-databases.js'

describe.skipIf(!inject('mongo'))(mongoTitle('mongo'), () => {
  const { database } = mongoDatabases()
  const cases = conformance({
    open({ through }) {
      const db = database()
      const openAgain = () => mongo({ db: through(db) })
      return { backend: openAgain(), openAgain }
    },
  })

  for (const { group, name, skip, run } of cases) {
    it.skipIf(skip)(`${group}: ${name}`, run)
  }
})
