import { checkExpiry } from '../../src/checks/check-call.js'
import type { Denylist, DenylistEntry } from '../../src/ports/denylist.js'
import { entriesToPut, mergeEntries } from '../shared/denylist-entries.js'
import { removeFirst } from './remove-first.js'

export function memoryDenylist(): Denylist {
  const listed = new Map<string, DenylistEntry>()
  return {
    async put(entries) {
      for (const entry of entriesToPut(entries)) {
        const first = listed.get(entry.id)
        listed.set(entry.id, first ? mergeEntries(first, entry) : entry)
      }
    },
    async find(ids) {
      const entries: DenylistEntry[] = []
      // Almost none is listed, and every guarded request asks.
      for (const [at, id] of ids.entries()) {
        const entry = listed.get(id)
        if (entry && ids.indexOf(id) === at) entries.push({ ...entry })
      }
      return entries
    },
    async sweep(before, limit) {
      checkExpiry('denylist.sweep', before, limit)
      return removeFirst(listed, limit, ({ expiresAt }) => expiresAt <= before)
    },
  }
}
