import { NotMigratedError } from '../shared/not-migrated-error.js'

/** The result of a query, as `pg` and PGlite both return it. */
export interface PostgresResult {
  readonly rows: readonly unknown[]
}

/**
 * A `pg` Pool or a PGlite instance. Each call must be a transaction of its own: a client inside an
 * open transaction will not do, because there a refused unique value ends the whole transaction.
 */
export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<PostgresResult>
}

/** Cells by column name. Every select list casts to text, so nothing else should be met. */
export type Cells = Readonly<Record<string, unknown>>

/** Runs one statement and gives its rows. */
export type Run = (text: string, values?: unknown[]) => Promise<readonly Cells[]>

/** The two ways in which this adapter sends a statement. */
export interface Runs {
  /** For the statements of requests: a prepared statement, where the client and the options allow. */
  readonly named: Run
  /** Planned for its values again at each call: for sweeps and migrations, which run seldom. */
  readonly unnamed: Run
}

// Where the host made repeatable read the default, of n racers for one row n - 1 fail each round.
const mostTries = 100

/** Sends one statement per call as `(text, values)`, the only form that both clients accept. */
export function sendTo(client: PostgresClient): Run {
  return async (text, values) => rowsOf(await client.query(text, values))
}

export function rowsOf({ rows }: PostgresResult): readonly Cells[] {
  return rows as readonly Cells[]
}

/**
 * A statement that the server rolled back to keep transactions apart changed nothing and is sent again.
 * Any other failure rejects: after a lost connection, the statement may or may not have been carried out.
 */
export function resending(send: Run): Run {
  return async (text, values) => {
    for (let tries = 1; ; tries++) {
      try {
        return await send(text, values)
      } catch (error) {
        if (isMissing(error)) {
          throw new NotMigratedError('postgres: a table or column is missing', error)
        }
        if (tries === mostTries || !wasRolledBack(error)) throw withTrigger(error)
      }
    }
  }
}

/**
 * The server names the constraint that refused a write, in a field of its own. Of a trigger it tells the function, among
 * words that may quote a row; the log of the host takes the name alone.
 */
function withTrigger(error: unknown): unknown {
  if (!(error instanceof Error) || !('where' in error)) return error
  const [, raisedBy] = /^PL\/\w+ function (?:\w+\.)?(\w+)\(/m.exec(String(error.where)) ?? []
  return raisedBy === undefined ? error : Object.assign(error, { raisedBy })
}

/** `undefined_table`, `undefined_column`. */
function isMissing(error: unknown): boolean {
  const state = sqlStateOf(error)
  return state === '42P01' || state === '42703'
}

/** `unique_violation`. */
export function isTaken(error: unknown): boolean {
  return sqlStateOf(error) === '23505'
}

/** `serialization_failure` or `deadlock_detected`. */
function wasRolledBack(error: unknown): boolean {
  const state = sqlStateOf(error)
  return state === '40001' || state === '40P01'
}

/** The five characters of SQLSTATE (ISO/IEC 9075); undefined for an error that did not come from a server. */
export function sqlStateOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
