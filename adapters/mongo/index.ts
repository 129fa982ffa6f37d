import { shapeReader } from '../../src/checks/shape.js'
import type { Backend } from '../../src/ports/backend.js'
import type { AnyCollectionSpec } from '../../src/ports/store.js'
import { denylistSpec } from '../shared/checked-calls.js'
import { collectionLease, leaseSpec } from '../shared/collection-lease.js'
import { type BoundCollection, bindCollection } from './bound-collection.js'
import { mongoCollection } from './collection.js'
import { counterSpec, mongoCounter } from './counter.js'
import { markDenylist, mongoDenylist } from './denylist.js'
import { openDocuments } from './handle.js'
import { inspect } from './inspect.js'
import { checkOptions, type MongoOptions } from './options.js'
import { prepare, stepsOf } from './prepare.js'
import { preparedNotes } from './prepared-notes.js'

export type { MongoOptions }

/**
 * A backend on MongoDB, with one collection for each of the library's. Works on a replica set and on
 * a single server; needs no transactions. The call itself does no I/O; `auth.migrate()` creates
 * collections and indexes, and a call on a collection that was not prepared rejects. Throws a
 * `TypeError` that names the option that is wrong.
 *
 * Reads go to the primary and writes wait for the majority; settings in the connection string do not
 * change that. The first call of a process that did not migrate takes one more round trip.
 *
 * @example
 * import { MongoClient } from 'mongodb'
 * import { createAuth } from 'postern'
 * import { mongo } from 'postern/mongo'
 *
 * const client = new MongoClient('mongodb://localhost:27017')
 * const auth = await createAuth({ ...options, backend: mongo({ db: client.db('auth') }) })
 */
export function mongo(options: MongoOptions): Backend {
  checkOptions(options)
  const { db, prefix = '' } = options
  const notes = preparedNotes(openDocuments(db, `${prefix}postern_collections`))
  const shapeOf = shapeReader()
  const bind = (spec: AnyCollectionSpec) => bindCollection(options, notes, shapeOf(spec))
  const own = { denylist: bind(denylistSpec), lease: bind(leaseSpec), counter: bind(counterSpec) }
  function collectionsOf(specs: readonly AnyCollectionSpec[]): readonly BoundCollection[] {
    const reserved = specs.find(({ name }) => name.startsWith('postern_'))
    if (reserved) throw new TypeError(`mongo: "${reserved.name}": "postern_" is reserved`)
    return [...Object.values(own), ...specs.map(bind)]
  }

  return {
    store: {
      collection: (spec) => mongoCollection(bind(spec)),
      plan: async (specs) => stepsOf(db, notes, collectionsOf(specs)),
      inspect: async () => [await inspect(db)],
      async prepare(specs) {
        await prepare(db, notes, collectionsOf(specs))
        await markDenylist(own.denylist)
      },
    },
    denylist: mongoDenylist(own.denylist, () => notes.forget()),
    lease: collectionLease(mongoCollection(own.lease)),
    counter: mongoCounter(own.counter),
  }
}
