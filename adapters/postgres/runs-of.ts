import { type PostgresClient, type Runs, resending, sendTo } from './client.js'
import { type NamingClient, namedStatements } from './named-statements.js'
import type { PostgresOptions } from './options.js'

/** How statements reach this client, by its kind and the host's choice. */
export function runsOf(
  client: PostgresClient,
  { statements = isPool(client) ? 'named' : 'unnamed' }: PostgresOptions,
  warn: (message: string) => void,
): Runs {
  const unnamed = resending(sendTo(client))
  const named = statements === 'named' && takesNames(client)
  return { unnamed, named: named ? resending(namedStatements(client, warn)) : unnamed }
}

/** PGlite and functions wrapped around a pool take a text only. */
function isPool(client: PostgresClient): boolean {
  return (
    'totalCount' in client &&
    typeof client.totalCount === 'number' &&
    'connect' in client &&
    typeof client.connect === 'function'
  )
}

/** Nothing of an object tells what its function takes, so the host's word for it has to do. */
function takesNames(client: PostgresClient): client is PostgresClient & NamingClient {
  return typeof client.query === 'function'
}
