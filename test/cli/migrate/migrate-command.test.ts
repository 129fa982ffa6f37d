import { createAuth, type MigrationStep, type Store } from 'postern'
import { memory } from 'postern/memory'
import { expect, it } from 'vitest'
import { configured } from '../../support/cli/configured.js'

it('shows what is missing, does it on request, and has nothing to do afterwards', async () => {
  const place = await configured()
  const plan = await place.run('migrate')
  expect(plan.code).toBe(1)
  expect(plan.out).toContain('client_users/table\n    create table "client_users" (')
  expect(await place.run('migrate')).toEqual(plan)

  const applied = await place.run('migrate', '--apply')
  expect([applied.code, applied.out]).toEqual([0, 'Done. The database is ready.'])
  expect(applied.err).toMatch(/^to do: table, \d+ times\nto do: .*, \d+ times\n/)
  expect(applied.err.split('\n').length).toBeLessThan(10)
  expect(await place.run('migrate')).toMatchObject({
    code: 0,
    out: 'Nothing to do. The database is ready.',
  })
  expect((await place.run('migrate', '--apply')).code).toBe(0)

  const auth = await createAuth({ ...place.options })
  expect(await auth.client.users.list()).toMatchObject({ users: [] })
  // The first values of the settings are there as well.
  expect((await auth.config.view('auth')).revision).toBe(1)
  await auth.close()
})

it('tells the same to programs', async () => {
  const place = await configured({ collectionPrefix: 'acme_' })
  const { steps }: { steps: MigrationStep[] } = JSON.parse(
    (await place.run('migrate', '--json')).out,
  )
  expect(steps.map(({ name }) => name)).toContain('acme_client_users/table')
  const { done }: { done: string[] } = JSON.parse(
    (await place.run('migrate', '--apply', '--json')).out,
  )
  expect(done).toEqual(steps.map(({ name }) => name))
  expect(JSON.parse((await place.run('migrate', '--json')).out)).toEqual({ steps: [] })
})

/** A store that has these steps to do, and notes whether it was prepared. */
function storeWith(steps: readonly MigrationStep[]) {
  const backend = memory()
  const prepared: unknown[] = []
  const store: Store = {
    ...backend.store,
    plan: async () => steps,
    async prepare(specs) {
      prepared.push(specs)
      await backend.store.prepare(specs)
    },
  }
  return { backend: { ...backend, store }, prepared }
}

it('refuses a step for which the writes of many rows wait, unless it is told to', async () => {
  const step = { name: 'client_users/index/email', statement: 'create index', blocks: 100_001 }
  const { backend, prepared } = storeWith([step])
  const place = await configured({ backend })
  expect((await place.run('migrate')).out).toBe(
    'client_users/index/email  -- writes of the table wait meanwhile, about 100001 rows\n    create index',
  )
  const refused = await place.run('migrate', '--apply')
  expect([refused.code, refused.out, prepared]).toEqual([1, '', []])
  expect(refused.err).toContain('client_users/index/email (about 100001 rows)')
  expect((await place.run('migrate', '--apply', '--blocking')).code).toBe(0)
  expect(prepared).toHaveLength(1)
})

it.each([100_000, 0, null])('carries out a step that blocks %s rows', async (blocks) => {
  const { backend } = storeWith([{ name: 'a/index/b', statement: null, blocks }])
  const place = await configured({ backend })
  expect((await place.run('migrate', '--apply')).code).toBe(0)
})

it('prepares a store that shows no plan, and says that it shows none', async () => {
  const place = await configured({ backend: memory() })
  const plan = await place.run('migrate')
  expect([plan.code, plan.err]).toEqual([1, expect.stringContaining('shows no plan')])
  expect((await place.run('migrate', '--apply')).code).toBe(0)
})

it('hands on what the store refuses, before anything is done', async () => {
  const { backend, prepared } = storeWith([])
  const plan = () => Promise.reject(new Error('client_users.email was created as "integer"'))
  const place = await configured({ backend: { ...backend, store: { ...backend.store, plan } } })
  const { code, err } = await place.run('migrate', '--apply')
  expect([code, err, prepared]).toEqual([3, 'client_users.email was created as "integer"', []])
})
