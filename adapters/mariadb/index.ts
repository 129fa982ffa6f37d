import type { Backend } from '../../src/ports/backend.js'
import { type SqlOptions, type SqlRow, type SqlRun, sqlBackend } from '../sql/index.js'
import { mariadbDialect, withConstraint } from './dialect.js'
import { withClock } from './inspect.js'

export type { SqlOptions as MariadbOptions }

/** A statement as the adapter sends it: rows as lists, and numbers that `Number` takes. */
export interface MariadbStatement {
  readonly sql: string
  readonly rowsAsArray: true
  readonly metaAsArray: false
}

/** A pool of the package `mariadb`. */
export interface MariadbPool {
  execute(statement: MariadbStatement, values: unknown[]): Promise<unknown>
  query(statement: MariadbStatement): Promise<unknown>
}

/**
 * A backend on MariaDB 10.6 or newer, with InnoDB: plain tables with typed columns, times as epoch milliseconds. `pool`
 * is a pool of the package `mariadb`, never a connection inside a transaction. The call itself does no I/O;
 * `auth.migrate()` creates and extends the tables. Throws a `TypeError` for a prefix that cannot be part of a name.
 *
 * The connections must have `autocommit` on and the character set `utf8mb4`, as they have by default; `migrate` refuses
 * others. MySQL lacks `returning` and is not supported.
 *
 * @example
 * import { createPool } from 'mariadb'
 * import { createAuth } from 'postern'
 * import { mariadb } from 'postern/mariadb'
 *
 * const pool = createPool('mariadb://shop@localhost/shop')
 * const auth = await createAuth({ ...options, backend: mariadb(pool) })
 */
export function mariadb(pool: MariadbPool, options: SqlOptions = {}): Backend {
  if (typeof pool?.execute !== 'function' || typeof pool.query !== 'function') {
    throw new TypeError('mariadb: needs a pool of the package mariadb, such as createPool({ … })')
  }
  const run = runOn(pool)
  const backend = sqlBackend(run, mariadbDialect, options)
  return {
    ...backend,
    store: {
      ...backend.store,
      async prepare(specs) {
        await refuseSession(run)
        await backend.store.prepare(specs)
      },
      async plan(specs) {
        await refuseSession(run)
        return backend.store.plan?.(specs) ?? []
      },
      inspect: async (specs) => withClock(run, (await backend.store.inspect?.(specs)) ?? []),
    },
  }
}

/** Values are sent apart from the text, which is prepared once a connection; only DDL is sent as a text alone. */
function runOn(pool: MariadbPool): SqlRun {
  return async (sql, values) => {
    const statement = { sql, rowsAsArray: true, metaAsArray: false } as const
    const sent = values.length === 0 ? pool.query(statement) : pool.execute(statement, [...values])
    const result = await sent.catch((error: unknown) => {
      throw withConstraint(error)
    })
    return Array.isArray(result) ? (result as readonly SqlRow[]) : []
  }
}

async function refuseSession(run: SqlRun): Promise<void> {
  const [[autocommit, charset, version] = []] = await run(
    'select @@autocommit, @@character_set_connection, version()',
    [],
  )
  if (Number(autocommit) !== 1) {
    throw new Error('mariadb: the connections must have autocommit on; leave the option out')
  }
  if (charset !== 'utf8mb4') {
    throw new Error(`mariadb: the connections must use utf8mb4; they use ${String(charset)}`)
  }
  if (!/mariadb/i.test(String(version))) {
    throw new Error(`mariadb: the server is ${String(version)}, which is no MariaDB`)
  }
}
