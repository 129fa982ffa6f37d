import { checkId } from '../../src/checks/check-call.js'
import { isTime } from '../../src/checks/check-value.js'
import type { DenylistEntry } from '../../src/ports/backend.js'

/** What is kept of two entries for one id: the first reason and the later expiry. */
export function mergeEntries(first: DenylistEntry, next: DenylistEntry): DenylistEntry {
  return { ...first, expiresAt: Math.max(first.expiresAt, next.expiresAt) }
}

/**
 * Checked copies, one an id, sorted by id: replicas that list the same ids at once then lock them
 * in the same order and cannot deadlock.
 */
export function entriesToPut(entries: readonly DenylistEntry[]): readonly DenylistEntry[] {
  const kept = new Map<string, DenylistEntry>()
  for (const { id, reason, expiresAt } of entries) {
    checkId(id, 'denylist.put')
    if (reason !== 'revoked' && reason !== 'max_age') {
      throw new TypeError('denylist.put: "reason" must be "revoked" or "max_age"')
    }
    if (!isTime(expiresAt)) {
      throw new TypeError('denylist.put: "expiresAt" must be epoch milliseconds')
    }
    const entry = { id, reason, expiresAt }
    const listed = kept.get(id)
    kept.set(id, listed ? mergeEntries(listed, entry) : entry)
  }
  return [...kept.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
}
