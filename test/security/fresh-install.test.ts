import { PGlite } from '@electric-sql/pglite'
import { expect, it, onTestFinished } from 'vitest'
import { postgres } from '../../adapters/postgres/index.js'
import { openHost, surfaces } from '../support/hosts/open-host.js'

const tables = "select tablename from pg_tables where schemaname = 'public' order by 1"

it('ASVS-6.3.2 a fresh install holds settings and no account, credential or session', async () => {
  const database = await PGlite.create()
  onTestFinished(() => database.close())
  const host = await openHost({ backend: postgres(database) })
  await host.auth.migrate()
  const { rows } = await database.query<{ tablename: string }>(tables)
  expect(rows.length).toBeGreaterThan(20)
  const filled: string[] = []
  for (const { tablename } of rows) {
    const counted = await database.query<{ n: number }>(
      `select count(*)::int as n from "${tablename}"`,
    )
    if (counted.rows[0]?.n !== 0) filled.push(tablename)
  }
  // The settings, that they were written, and which migrations ran.
  expect(filled).toEqual([
    'operator_audit_records',
    'operator_module_environments',
    'operator_modules',
    'postern_migrations',
  ])
  for (const surface of surfaces) {
    expect(await host.auth[surface].users.list()).toMatchObject({ users: [] })
  }
})
