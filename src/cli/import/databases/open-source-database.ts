import { resolve } from 'node:path'
import type { Call } from '../../frame/command.js'
import { Refusal } from '../../frame/refusal.js'
import { mariadbSource } from './mariadb-source.js'
import { postgresSource } from './postgres-source.js'
import type { SourceDatabase } from './source-database.js'
import { sqliteSource } from './sqlite-source.js'

const sourceVariable = 'POSTERN_SOURCE_URL'

/**
 * The database that the environment names: `postgres:`, `mariadb:`, `mysql:`, or `sqlite:` with a path. It is no
 * argument, which other users of the machine see and shells keep.
 */
export function openSourceDatabase({
  env,
  cwd,
}: Pick<Call, 'env' | 'cwd'>): Promise<SourceDatabase> {
  const given = env[sourceVariable] ?? ''
  if (given.startsWith('sqlite:')) return sqliteSource(resolve(cwd, given.slice('sqlite:'.length)))
  const url = URL.canParse(given) ? new URL(given) : null
  switch (url?.protocol) {
    case 'postgres:':
    case 'postgresql:':
      return postgresSource(url)
    case 'mariadb:':
    case 'mysql:':
      return mariadbSource(url)
    default:
      // What it holds may be a password, so it is not repeated.
      throw new Refusal(
        `${sourceVariable} must be the address of the database to read: postgres://…, mariadb://…, mysql://… or sqlite:file.db.`,
        2,
      )
  }
}
