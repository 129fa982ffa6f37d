import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'

const spare: string[] = []
/** One connection for all emptying: a new one would have to read up on every table again. */
let client: Promise<pg.Client> | undefined

/**
 * Schemas for the hosts of a test file, which follow each other in one: making its tables takes
 * fifty times as long as emptying them. A host that finds none to spare gets a new one. All of them go with the
 * database of the run.
 */
export const spareSchemas = {
  take(): string {
    const name = spare.pop()
    if (name !== undefined) return name
    return `contract_${randomBytes(6).toString('hex')}`
  },

  /** Nothing of the host may be on its way to the schema any more. */
  async putBack(name: string): Promise<void> {
    const connected = await connection()
    const { rows } = await connected.query(
      `select tablename from pg_tables where schemaname = $1 and tablename <> 'postern_migrations'`,
      [name],
    )
    await connected.query(rows.map((row) => `delete from "${name}"."${row.tablename}"`).join(';'))
    spare.push(name)
  },
}

function connection(): Promise<pg.Client> {
  client ??= connect()
  return client
}

async function connect(): Promise<pg.Client> {
  const connected = new pg.Client({ connectionString: inject('postgresUrl') ?? '' })
  // It stays open until the run's database is dropped, which ends it.
  connected.on('error', () => undefined)
  await connected.connect()
  return connected
}
