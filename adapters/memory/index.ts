import { answered } from '../../src/checks/answered.js'
import { checkExpiry } from '../../src/checks/check-call.js'
import { shapeReader } from '../../src/checks/shape.js'
import type { Backend, Denylist, DenylistEntry } from '../../src/ports/backend.js'
import type { AnyCollectionSpec } from '../../src/ports/store.js'
import { collectionLease, leaseSpec } from '../shared/collection-lease.js'
import { entriesToPut, mergeEntries } from '../shared/denylist-entries.js'
import { memoryCollection } from './collection.js'
import { memoryCounter } from './counter.js'
import { removeFirst } from './remove-first.js'
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

function memoryDenylist(): Denylist {
  const listed = new Map<string, DenylistEntry>()
  return {
    async put(entries) {
      for (const entry of entriesToPut(entries)) {
        const first = listed.get(entry.id)
        listed.set(entry.id, first ? mergeEntries(first, entry) : entry)
      }
    },
    find(ids) {
      // Almost none is listed, and every guarded request asks.
      if (!ids.some((id) => listed.has(id))) return answered([])
      const entries: DenylistEntry[] = []
      for (const id of new Set(ids)) {
        const entry = listed.get(id)
        if (entry) entries.push({ ...entry })
      }
      return answered(entries)
    },
    async sweep(before, limit) {
      checkExpiry('denylist.sweep', before, limit)
      return removeFirst(listed, limit, ({ expiresAt }) => expiresAt <= before)
    },
  }
}
