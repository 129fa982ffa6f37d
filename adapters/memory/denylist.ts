import { answered } from '../../src/checks/answered.js'
import { checkExpiry } from '../../src/checks/check-call.js'
import type { Denylist, DenylistEntry } from '../../src/ports/backend.js'
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
