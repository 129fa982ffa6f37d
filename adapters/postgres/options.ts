import { refuseUnknown } from '../shared/refuse-unknown.js'

/** The options of `postgres`. */
export interface PostgresOptions {
  /** The schema of all tables, created if missing. Default `postern`. The search path is not asked. */
  readonly schema?: string
  /** Put before the name of every table, such as `auth_`. At most 20 characters; default none. */
  readonly tablePrefix?: string
  /**
   * Whether the statements of requests are prepared by name, so that the server plans each once a
   * connection. Default: `'named'` for a `pg` Pool, `'unnamed'` for every other client. Choose
   * `'unnamed'` for a pooler in transaction mode that does not carry prepared statements along, such as
   * PgBouncer before 1.21. Choose `'named'` for an object of your own around a Pool whose `query` passes
   * on an object `{ name, text, values }`. Where a name is refused, the statement is sent once more
   * without; after three refusals among 10,000 statements all are, with one warning in
   * the log of `createAuth`.
   */
  readonly statements?: 'named' | 'unnamed'
}

/** Where the tables are. */
export interface Place {
  readonly schema: string
  readonly tablePrefix: string
}

const name = /^[a-z_][a-z0-9_]*$/

/** Throws a `TypeError` that names the option which cannot be part of an identifier. */
export function placeOf(options: PostgresOptions): Place {
  const { schema = 'postern', tablePrefix = '', statements, ...rest } = options
  refuseUnknown('postgres', rest)
  if (!isName(schema, 63) || schema.startsWith('pg_')) {
    throw new TypeError(
      `postgres: option "schema" must be lower-case letters, digits and "_", at most 63, ` +
        `starting with neither a digit nor "pg_"; it is ${JSON.stringify(schema)}`,
    )
  }
  if (statements !== undefined && statements !== 'named' && statements !== 'unnamed') {
    throw new TypeError(
      `postgres: option "statements" must be "named" or "unnamed"; it is ${JSON.stringify(statements)}`,
    )
  }
  if (tablePrefix !== '' && !isName(tablePrefix, 20)) {
    throw new TypeError(
      `postgres: option "tablePrefix" must be lower-case letters, digits and "_", at most 20, ` +
        `not starting with a digit; it is ${JSON.stringify(tablePrefix)}`,
    )
  }
  return { schema, tablePrefix }
}

function isName(value: unknown, most: number): boolean {
  return typeof value === 'string' && value.length <= most && name.test(value)
}
