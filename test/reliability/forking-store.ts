import { setImmediate as turn } from 'node:timers/promises'
import type { Backend, Collection, Doc, Guard } from 'postern'

/**
 * The planted bug: an update that looks at the document, and then writes whatever is there by now.
 * Two refreshes of one token may both win, and the family forks.
 */
export function forkingBackend(inner: Backend): Backend {
  return {
    ...inner,
    store: {
      ...inner.store,
      collection: (spec) => forking(inner.store.collection(spec)),
    },
  }
}

function forking<T extends Doc>(right: Collection<T>): Collection<T> {
  return {
    ...right,
    async update(id, guard, set) {
      const seen = await right.get(id)
      await turn()
      if (seen === null || !holds(seen, guard)) return null
      // Whatever happened since: only the id has to match.
      const anything: Guard<Doc> = { id }
      return right.update(id, anything as Guard<T>, set)
    },
  }
}

/** The tests of a guard that these suites use. */
function holds(doc: object, guard: object): boolean {
  const values = new Map<string, unknown>(Object.entries(doc))
  return Object.entries(guard).every(([name, test]) => {
    const value = values.get(name)
    if (typeof test !== 'object' || test === null) return value === test
    return !('gt' in test) || (typeof value === 'number' && value > test.gt)
  })
}
