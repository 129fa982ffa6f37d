import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe } from 'vitest'
import { sqlite } from '../../adapters/sqlite/index.js'
import { conformance } from '../../src/testing/index.js'
import { testEach } from '../support/stores/each-case.js'

const folder = mkdtempSync(join(tmpdir(), 'postern-sqlite-kit-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.each(['memory', 'file'])('sqlite in a %s', (where) => {
  let made = 0

  testEach(
    'sqlite',
    conformance({
      open({ through }) {
        made += 1
        const file = where === 'memory' ? ':memory:' : join(folder, `${made}.db`)
        const database = new DatabaseSync(file)
        return { backend: sqlite(through(database)), close: () => database.close() }
      },
    }),
  )
})
