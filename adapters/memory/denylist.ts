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
      return [...new Set(ids)].flatMap((id) => {
        const entry = listed.get(id)
        return entry ? [{ ...entry }] : []
      })
    },
    async sweep(before, limit) {
      checkExpiry('denylist.sweep', before, limit)
      return removeFirst(listed, limit, ({ expiresAt }) => expiresAt <= before)
    },
  }
}
