import { randomBytes } from 'node:crypto'
import { Pool } from 'pg'
import { afterAll, afterEach } from 'vitest'

/**
 * A pool for the tests of one `describe`, and a fresh schema whenever one is asked for. The schemas
 * are dropped after each test. `settings` are server settings for every connection.
 */
export function schemasOf(url: string | null, settings: Readonly<Record<string, string>> = {}) {
  const pool = new Pool({ connectionString: url ?? '', max: 10, options: optionsOf(settings) })
  let made: string[] = []
  afterEach(async () => {
    const schemas = made
    made = []
    for (const schema of schemas) await pool.query(`drop schema if exists ${schema} cascade`)
  })
  afterAll(() => pool.end())
  return {
    pool,
    schema(): string {
      const name = `case_${randomBytes(6).toString('hex')}`
      made.push(name)
      return name
    },
  }
}

/** Server settings in the form of a connection's `options`. */
export function optionsOf(settings: Readonly<Record<string, string>>): string {
  // Tables live for one test, so no commit needs to wait for the disk.
  return Object.entries({ synchronous_commit: 'off', ...settings })
    .map(([name, value]) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`)
    .join(' ')
}
