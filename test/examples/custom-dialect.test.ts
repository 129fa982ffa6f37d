import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Pool } from 'pg'
import { conformance } from 'postern/testing'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { postgresByDialect } from '../../examples/custom-dialect/postgres.js'
import { testEach } from '../support/stores/each-case.js'
import { optionsOf } from '../support/stores/postgres-schemas.js'

const url = inject('postgresUrl')
const found = url ? '' : ' (Postgres not found)'

describe.skipIf(!url)(`the example of a dialect${found}`, () => {
  const options = optionsOf({ search_path: 'by_dialect' })
  const pool = new Pool({ connectionString: url ?? '', max: 10, options })

  beforeAll(() => pool.query('create schema by_dialect'))
  afterAll(async () => {
    await pool.query('drop schema by_dialect cascade')
    await pool.end()
  })

  testEach(
    'by dialect',
    conformance({ open: ({ through }) => ({ backend: postgresByDialect(through(pool)) }) }),
  )

  test('a dialect without `narrow` refuses a text that an index comes to name, and changes nothing', async () => {
    const { store } = postgresByDialect(pool)
    const fields = { nick: { kind: 'text' } } as const
    const before = { name: 'pets', fields, indexes: [], expires: 'never' } as const
    const after = { ...before, indexes: [{ on: ['nick'] }] } as const
    await store.prepare([before])
    await expect(store.prepare([after])).rejects.toThrow(
      'postgres: "pets"."nick" was created as "text not null", but collection "pets" now declares "nick" as ' +
        '"text collate "C" not null"; give the field a new name instead',
    )
    expect(await store.plan?.([before])).toEqual([])
  })
})

test('the example of a dialect has at most 120 lines', () => {
  const path = fileURLToPath(new URL('../../examples/custom-dialect/postgres.ts', import.meta.url))
  expect(readFileSync(path, 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(120)
})
