import { shapeOf } from '../../src/checks/shape.js'
import type { Backend } from '../../src/ports/backend.js'
import type { AnyCollectionSpec } from '../../src/ports/store.js'
import { collectionLease, leaseSpec } from '../shared/collection-lease.js'
import { memoryCollection } from './collection.js'
import { memoryCounter } from './counter.js'
import { memoryDenylist } from './denylist.js'
import { Table } from './table.js'

/**
 * A backend that lives in this process and dies with it: for tests and for trying things out. It
 * keeps every promise of the ports, but only towards callers in the same process.
 *
 * @example
 * const auth = await createAuth({ ...options, backend: memory() })
 */
export function memory(): Backend {
  const tables = new Map<string, Table>()
  const bind = (spec: AnyCollectionSpec) => {
    const shape = shapeOf(spec)
    const table = tables.get(shape.name) ?? new Table()
    tables.set(shape.name, table)
    table.adopt(shape)
    return { table, shape }
  }
  const leases = shapeOf(leaseSpec)
  const leaseTable = new Table()
  leaseTable.adopt(leases)
  return {
    store: {
      collection(spec) {
        const { table, shape } = bind(spec)
        return memoryCollection(table, shape)
      },
      async prepare(specs) {
        for (const spec of specs) bind(spec)
      },
    },
    denylist: memoryDenylist(),
    lease: collectionLease(memoryCollection(leaseTable, leases)),
    counter: memoryCounter(),
  }
}
