import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Backend } from '../../src/ports/backend.js'
import { type SqlOptions, type SqlRun, sqlBackend } from '../sql/index.js'
import { sqliteDialect, withConstraint } from './dialect.js'

export type { SqlOptions as SqliteOptions }

/**
 * A backend on a SQLite database of this machine, by `node:sqlite` of Node 22.13 or newer. Several processes may
 * share the file. The driver has no promises: each statement blocks the process until the file has it.
 *
 * The handle is for Postern alone: a transaction that the host began on it could take back what was acknowledged, so
 * calls reject while there is one.
 *
 * The call sets two pragmas on the handle. `busy_timeout`: a statement waits up to two seconds for another process.
 * `synchronous = extra`: what was acknowledged survives a power cut. Put the file into WAL mode once, when you
 * make it: processes that do so at the same moment lock each other out.
 *
 * @example
 * import { DatabaseSync } from 'node:sqlite'
 * import { createAuth } from 'postern'
 * import { sqlite } from 'postern/sqlite'
 *
 * const auth = await createAuth({ ...options, backend: sqlite(new DatabaseSync('auth.db')) })
 */
export function sqlite(database: DatabaseSync, options: SqlOptions = {}): Backend {
  if (typeof database?.prepare !== 'function' || typeof database.exec !== 'function') {
    throw new TypeError(
      "sqlite: needs a DatabaseSync of node:sqlite (Node 22.13 or newer), such as new DatabaseSync('auth.db')",
    )
  }
  database.exec('pragma busy_timeout = 2000')
  database.exec('pragma synchronous = extra')
  return sqlBackend(runOn(database), sqliteDialect, options)
}

// Far more than the library has. Those used longest ago go first: texts for many rows differ by their number.
const mostKept = 500

/**
 * `all`, and never `get`, which stops at the first row: a write is committed at the end of its statement, and the caller
 * has to hear of it when that fails.
 */
function runOn(database: DatabaseSync): SqlRun {
  const prepared = new Map<string, StatementSync>()
  return async (text, values) => {
    // Node 22.13 to 22.15 do not tell.
    if (database.isTransaction === true) {
      throw new Error(
        'sqlite: the handle is in a transaction of the host; give Postern a DatabaseSync of its own',
      )
    }
    const statement = prepared.get(text) ?? database.prepare(text)
    prepared.delete(text)
    prepared.set(text, statement)
    if (prepared.size > mostKept) prepared.delete(prepared.keys().next().value ?? '')
    try {
      return statement.all(...values).map((row) => Object.values(row))
    } catch (error) {
      throw withConstraint(error)
    }
  }
}
