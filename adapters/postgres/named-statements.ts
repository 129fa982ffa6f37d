import { createHash } from 'node:crypto'
import {
  type PostgresClient,
  type PostgresResult,
  type Run,
  rowsOf,
  sendTo,
  sqlStateOf,
} from './client.js'

/** What `pg` takes in place of a text: the server keeps the plan under the name. */
interface NamedQuery {
  readonly name: string
  readonly text: string
  readonly values: unknown[]
}

export interface NamingClient {
  query(query: NamedQuery): Promise<PostgresResult>
}

// A statement takes about 12 KiB of the server's memory in every connection.
const mostNames = 200
const mostRefusals = 3
// One maintenance command that makes all connections forget must not count for ever.
const refusalWindow = 10_000

/**
 * Sends each statement under a name made of its text, so that the server parses and plans it once a
 * connection. Equal names then always stand for equal texts, also where a pooler hands one connection
 * to several clients.
 *
 * A server that does not know the name, or knows it already, rolled everything back: the statement is
 * sent once more, without a name. After three such refusals among 10,000 statements, all go without and `warn` is called, once.
 */
export function namedStatements(
  client: NamingClient & PostgresClient,
  warn: (message: string) => void,
): Run {
  const unnamed = sendTo(client)
  const nameOf = nameEach()
  let refusals: readonly number[] = []
  let isNaming = true
  let sent = 0

  function note(): void {
    refusals = [...refusals.filter((at) => sent - at < refusalWindow), sent]
    if (!isNaming || refusals.length < mostRefusals) return
    isNaming = false
    warn(
      'postgres: prepared statements get lost between this process and the server, probably by a ' +
        'pooler in transaction mode; going on without them. Set the option statements to "unnamed".',
    )
  }

  return async (text, values = []) => {
    const name = isNaming ? nameOf(text) : null
    if (name === null) return unnamed(text, values)
    sent++
    try {
      return rowsOf(await client.query({ name, text, values }))
    } catch (error) {
      if (!isRefusedName(error)) throw error
      note()
      return unnamed(text, values)
    }
  }
}

/** Names texts until there are too many; null for every further text. */
function nameEach(): (text: string) => string | null {
  const names = new Map<string, string>()
  return (text) => {
    const known = names.get(text)
    if (known !== undefined) return known
    if (names.size >= mostNames) return null
    // A server cuts names at 63 bytes.
    const name = `postern_${createHash('sha256').update(text).digest('hex').slice(0, 40)}`
    names.set(text, name)
    return name
  }
}

/**
 * `invalid_sql_statement_name`, `duplicate_prepared_statement`, and `feature_not_supported`: a kept plan
 * whose columns have changed type since. No statement of this adapter is refused so for another reason.
 */
function isRefusedName(error: unknown): boolean {
  const state = sqlStateOf(error)
  return state === '26000' || state === '42P05' || state === '0A000'
}
