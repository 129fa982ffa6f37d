import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, it } from 'vitest'
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
        const handles: DatabaseSync[] = []
        const bind = (handle = new DatabaseSync(file)) => {
          handles.push(handle)
          return sqlite(through(handle))
        }
        return {
          backend: bind(),
          // Nobody else sees what is in memory, so there the second adapter has the same handle.
          openAgain: () => bind(where === 'memory' ? handles[0] : undefined),
          close() {
            for (const handle of new Set(handles)) handle.close()
          },
        }
      },
    }),
  )
})

it('a transaction of the host on the handle takes back nothing that was acknowledged: calls reject', async () => {
  const database = new DatabaseSync(':memory:')
  const { counter, store } = sqlite(database)
  await store.prepare([])
  database.exec('begin')
  await expect(counter.hit('a', 1000, 9, 0)).rejects.toThrow(
    'sqlite: the handle is in a transaction of the host; give Postern a DatabaseSync of its own',
  )
  database.exec('rollback')
  expect(await counter.hit('a', 1000, 9, 0)).toMatchObject({ count: 1 })
  database.close()
})

it('an index comes to name a text that has a column already: no column is changed, however long its texts are', async () => {
  const database = new DatabaseSync(':memory:')
  const { store } = sqlite(database)
  const fields = { nick: { kind: 'text' } } as const
  const before = { name: 'pets', fields, indexes: [], expires: 'never' } as const
  const after = { ...before, indexes: [{ on: ['nick'] }] } as const
  await store.prepare([before])
  const long = { id: 'a', nick: 'x'.repeat(1000), expiresAt: null }
  await store.collection<typeof long>(before).insert(long)
  const plan = await store.plan?.([after])
  expect(plan?.map(({ name }) => name)).toEqual(['pets/index/pets_nick_idx'])
  await store.prepare([after])
  expect(await store.collection<typeof long>(after).get('a')).toEqual(long)
  database.close()
})
