import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { postgres } from '../../adapters/postgres/index.js'
import { type TestAuth, testAuth } from '../support/hosts/test-auth.js'
import { optionsOf } from '../support/stores/postgres-schemas.js'

const url = inject('postgresUrl')
const page = readFileSync(new URL('../../docs/orm.md', import.meta.url), 'utf8')
const [, upsert = ''] = /pool\.query\('(.*?)', \[userId\]\)/.exec(page) ?? []

describe.skipIf(!url)(`the page on tables of hosts${url ? '' : ' (Postgres not found)'}`, () => {
  /** In the place of `postern` and of `public`, because the database is that of all tests. */
  const schema = `orm_${randomBytes(6).toString('hex')}`
  const pool = new Pool({
    connectionString: url ?? '',
    options: optionsOf({ search_path: schema }),
  })
  const [profiles = '', joined = '', trigger = ''] = [...page.matchAll(/```sql\n(.*?)```/gs)].map(
    ([, text = '']) => text.replaceAll('postern.', `${schema}.`).replace('= public', `= ${schema}`),
  )
  let host: TestAuth
  beforeAll(async () => {
    host = await testAuth({ backend: postgres(pool, { schema }) })
    await pool.query(profiles)
  })
  afterAll(async () => {
    await host.auth.close()
    await pool.query(`drop schema ${schema} cascade`)
    await pool.end()
  })
  const rows = async () => (await pool.query('select user_id, plan from profiles')).rows
  const join = (email: string) => host.auth.client.users.create({ email, name: 'Ada' })

  // The tests follow each other in one database.
  it('the statement of the guard makes one row, however often and for however many requests at once', async () => {
    const { id } = await join('first@example.org')
    await Promise.all(Array.from({ length: 8 }, () => pool.query(upsert, [id])))
    await pool.query("update profiles set plan = 'paid'")
    await pool.query(upsert, [id])
    expect(await rows()).toEqual([{ user_id: id, plan: 'paid' }])
    await expect(pool.query(upsert, ['nobody'])).rejects.toMatchObject({ code: '23503' })
    expect(await host.auth.client.users.delete(id)).toBe(true)
    expect(await rows()).toEqual([])
  })

  it('the trigger makes the row of a user with the user, which is nothing to mend', async () => {
    await pool.query(trigger)
    const { id } = await join('ada@example.org')
    expect(await rows()).toEqual([{ user_id: id, plan: 'free' }])
    expect((await pool.query(joined)).rows).toEqual([{ email: 'ada@example.org', plan: 'free' }])
    const findings = await host.auth.diagnose({ offline: true })
    expect(findings.filter(({ check }) => check === 'database')).toEqual([])
  })

  it('where the function of the trigger fails there is no user, and the log names the function', async () => {
    await pool.query('delete from profiles; alter table profiles add constraint none check (false)')
    await expect(join('bob@example.org')).rejects.toMatchObject({ code: 'service_unavailable' })
    expect(await host.auth.client.users.findByEmail('bob@example.org')).toBeNull()
    const fields = expect.objectContaining({ constraint: 'none', raisedBy: 'make_profile' })
    expect(host.logger.lines).toContainEqual(expect.objectContaining({ fields }))
  })
})
