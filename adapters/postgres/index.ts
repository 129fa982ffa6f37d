import { shapeReader } from '../../src/checks/shape.js'
import type { Backend } from '../../src/ports/backend.js'
import type { Logger } from '../../src/ports/host.js'
import type { AnyCollectionSpec } from '../../src/ports/store.js'
import { denylistSpec } from '../shared/checked-calls.js'
import { collectionLease, leaseSpec } from '../shared/collection-lease.js'
import { type PostgresClient, type PostgresResult, type Runs, resending, sendTo } from './client.js'
import { postgresCollection } from './collection.js'
import { counterSpec, postgresCounter } from './counter.js'
import { postgresDenylist } from './denylist.js'
import { migrate } from './migrate.js'
import { type NamingClient, namedStatements } from './named-statements.js'
import { type PostgresOptions, placeOf } from './options.js'
import { type SqlTable, tableOf } from './table.js'

const onRequest = () => import('./on-request.js')

export type { PostgresClient, PostgresOptions, PostgresResult }

/**
 * A backend on PostgreSQL 14 or newer: plain tables with typed columns, which a host may join and
 * reference. `client` is a `pg` Pool or a PGlite instance, never a client inside a transaction. The
 * call itself does no I/O; `auth.migrate()` creates and extends the tables. Throws a `TypeError` for
 * a schema or a prefix that cannot be an identifier.
 *
 * A host's foreign keys to these tables need `on delete cascade` or `on delete set null`; otherwise
 * removing the row they refer to rejects.
 *
 * @example
 * import pg from 'pg'
 * import { createAuth } from 'postern'
 * import { postgres } from 'postern/postgres'
 *
 * const pool = new pg.Pool({ connectionString: 'postgres://localhost/shop' })
 * pool.on('error', console.error)
 * const auth = await createAuth({ ...options, backend: postgres(pool) })
 */
export function postgres(client: PostgresClient, options: PostgresOptions = {}): Backend {
  if (typeof client?.query !== 'function') {
    throw new TypeError('postgres: needs a pg Pool or a PGlite instance, such as new Pool({ … })')
  }
  const place = placeOf(options)
  let logger: Logger | null = null
  const runs = runsOf(client, options, (message) => logger?.warn(message))
  const shapeOf = shapeReader()
  const bind = (spec: AnyCollectionSpec) => tableOf(shapeOf(spec), place)
  const own = { denylist: bind(denylistSpec), lease: bind(leaseSpec), counter: bind(counterSpec) }
  function tablesOf(specs: readonly AnyCollectionSpec[]): readonly SqlTable[] {
    const reserved = specs.find(({ name }) => name.startsWith('postern_'))
    if (reserved) throw new TypeError(`postgres: "${reserved.name}": "postern_" is reserved`)
    return [...Object.values(own), ...specs.map(bind)]
  }

  return {
    store: {
      collection: (spec) => postgresCollection(runs, bind(spec)),
      prepare: async (specs) => migrate(runs.unnamed, tablesOf(specs), place),
      async plan(specs) {
        const { planOf } = await onRequest()
        return planOf(runs.unnamed, tablesOf(specs), place)
      },
      async inspect(specs) {
        const { inspect } = await onRequest()
        return [await inspect(runs.unnamed, tablesOf(specs), place)]
      },
      async heldBy(removals) {
        const { heldBy } = await onRequest()
        return heldBy(runs.unnamed, removals, place)
      },
    },
    denylist: postgresDenylist(runs, own.denylist),
    lease: collectionLease(postgresCollection(runs, own.lease)),
    counter: postgresCounter(runs, own.counter),
    useLogger(given) {
      logger = given
    },
  }
}

/** How statements reach this client, by its kind and the host's choice. */
function runsOf(
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
