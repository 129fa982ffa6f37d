import type { Backend } from 'postern'
import { collectionsOf } from '../../src/model/collections.js'
import type { CounterResult, LeaseRecord } from '../../src/ports/backend.js'

/** What a test can have a host do to its backend without the library in between. */
export interface PortCommands {
  hit(of: { key: string; windowMs: number; limit: number; now: number }): Promise<CounterResult>
  replaceLease(of: {
    name: string
    seen: LeaseRecord | null
    next: LeaseRecord
  }): Promise<{ replaced: boolean }>
  /** One batch of everything that expires, as the sweep removes it. */
  sweep(of: { before: number; limit: number }): Promise<null>
}

export function portCommands({ store, denylist, lease, counter }: Backend): PortCommands {
  return {
    hit: ({ key, windowMs, limit, now }) => counter.hit(key, windowMs, limit, now),
    replaceLease: async ({ name, seen, next }) => ({
      replaced: await lease.replace(name, seen, next),
    }),
    async sweep({ before, limit }) {
      for (const surface of ['operator', 'client'] as const) {
        const { families, sessions, intents, auditRecords } = collectionsOf(store, surface, '')
        for (const each of [families, sessions, intents, auditRecords]) {
          await each.sweep(before, limit)
        }
      }
      await denylist.sweep(before, limit)
      await counter.sweep(before, limit)
      return null
    },
  }
}
