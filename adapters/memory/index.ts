import { shapeReader } from '../../src/checks/shape.js'
import type { Backend } from '../../src/ports/backend.js'
import type { AnyCollectionSpec } from '../../src/ports/store.js'
import { collectionLease, leaseSpec } from '../shared/collection-lease.js'
import { memoryCollection } from './collection.js'
import { memoryCounter } from './counter.js'
import { memoryDenylist } from './denylist.js'
import { Table } from './table.js'

/**
 * A backend in the memory of this process, for tests and for trying things out. It keeps every
 * promise of the ports towards callers in the same process, and ends with the process.
 *
 * @example
 * import { createAuth } from 'postern'
 * import { memory } from 'postern/memory'
 *
 * const auth = await createAuth({ ...options, backend: memory() })
 */
export function memory(): Backend {
  const shapeOf = shapeReader()
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
