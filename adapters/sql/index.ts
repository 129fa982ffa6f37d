import { shapeReader } from '../../src/checks/shape.js'
import type { Backend } from '../../src/ports/backend.js'
import type { AnyCollectionSpec } from '../../src/ports/store.js'
import { denylistSpec } from '../shared/checked-calls.js'
import { collectionLease, leaseSpec } from '../shared/collection-lease.js'
import { NotMigratedError } from '../shared/not-migrated-error.js'
import { sqlCollection } from './collection.js'
import { counterSpec, sqlCounter } from './counter.js'
import { sqlDenylist } from './denylist.js'
import type {
  FoundColumn,
  FoundSchema,
  NarrowDialect,
  NarrowParts,
  ObstacleQueries,
  RemoveParts,
  SqlDialect,
  SqlType,
  UpdateParts,
} from './dialect.js'
import { migrate, planOf } from './migrate.js'
import { heldBy, problemsOf } from './obstacles.js'
import type { SqlRow, SqlRun, SqlValue } from './sql-run.js'
import { type SqlTable, tableOf } from './table.js'

export type {
  FoundColumn,
  FoundSchema,
  NarrowDialect,
  NarrowParts,
  ObstacleQueries,
  RemoveParts,
  SqlDialect,
  SqlRow,
  SqlRun,
  SqlType,
  SqlValue,
  UpdateParts,
}

/** The options of `sqlBackend`. */
export interface SqlOptions {
  /** Put before the name of every table, such as `auth_`. At most 20 characters; default none. */
  readonly tablePrefix?: string
}

/**
 * A backend on a SQL database of your choice: the tables, statements, guards and migrations are made here, and
 * `dialect` says how your database writes them. `run` sends one statement as a transaction of its own. Prove what you
 * get with `conformance` of `postern/testing`.
 *
 * The calls of the store are one statement each, and so are those of the denylist, the lease and the counter.
 * A sweep is two. Times are stored as integers, epoch milliseconds.
 *
 * Throws a `TypeError` for a prefix that cannot be part of a name. `prepare` throws an `Error` that names the step which
 * the database refused.
 *
 * @example
 * import type { Pool } from 'pg'
 * import { type SqlDialect, sqlBackend } from 'postern/sql'
 *
 * declare const dialect: SqlDialect
 * export const backendOf = (pool: Pool) =>
 *   sqlBackend(async (text, values) => {
 *     const { rows } = await pool.query({ text, values: [...values], rowMode: 'array' })
 *     return rows
 *   }, dialect)
 */
export function sqlBackend(run: SqlRun, dialect: SqlDialect, options: SqlOptions = {}): Backend {
  const { tablePrefix = '' } = options
  if (tablePrefix !== '' && !/^[a-z_][a-z0-9_]{0,19}$/.test(tablePrefix)) {
    throw new TypeError(
      `${dialect.name}: option "tablePrefix" must be lower-case letters, digits and "_", at most 20, not starting ` +
        `with a digit; it is ${JSON.stringify(tablePrefix)}`,
    )
  }
  const shapeOf = shapeReader()
  const send = dialectRun(run, dialect)
  const bind = (spec: AnyCollectionSpec) => tableOf(shapeOf(spec), dialect, tablePrefix)
  const own = { denylist: bind(denylistSpec), lease: bind(leaseSpec), counter: bind(counterSpec) }
  function tablesOf(specs: readonly AnyCollectionSpec[]): readonly SqlTable[] {
    const reserved = specs.find(({ name }) => name.startsWith('postern_'))
    if (reserved) throw new TypeError(`${dialect.name}: "${reserved.name}": "postern_" is reserved`)
    return [...Object.values(own), ...specs.map(bind)]
  }

  return {
    store: {
      collection: (spec) => sqlCollection(send, dialect, bind(spec)),
      prepare: async (specs) => migrate(send, dialect, tablesOf(specs)),
      plan: async (specs) => planOf(send, dialect, tablesOf(specs)),
      async inspect(specs) {
        const problems = await problemsOf(send, dialect, tablesOf(specs))
        return [{ name: dialect.name, now: null, problems }]
      },
      heldBy: async (removals) =>
        heldBy(
          send,
          dialect,
          removals.map((one) => ({ ...one, table: tablePrefix + one.collection })),
        ),
    },
    denylist: sqlDenylist(send, dialect, own.denylist),
    lease: collectionLease(sqlCollection(send, dialect, own.lease)),
    counter: sqlCounter(send, dialect, own.counter),
  }
}

// Where many replicas race for one row, all but one of them may be rolled back in each round.
const mostTries = 100

/** Puts the dialect's placeholders into texts and sends again what the server rolled back. */
function dialectRun(run: SqlRun, dialect: SqlDialect): SqlRun {
  return async (text, values) => {
    const own = withPlaceholders(text, dialect)
    for (let tries = 1; ; tries++) {
      try {
        return await run(own, values)
      } catch (error) {
        const failure = dialect.failure(error)
        if (failure === 'missing') {
          throw new NotMigratedError(`${dialect.name}: a table or column is missing`, error)
        }
        if (failure !== 'undone' || tries === mostTries) throw error
      }
    }
  }
}

function withPlaceholders(text: string, { placeholder }: SqlDialect): string {
  if (placeholder === undefined) return text
  let position = 0
  return text.replaceAll('?', () => {
    position += 1
    return placeholder(position)
  })
}
