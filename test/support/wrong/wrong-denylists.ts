import { setImmediate as turn } from 'node:timers/promises'
import type { Denylist, DenylistEntry } from '../../../src/ports/denylist.js'
import type { WrongAdapter } from './wrong-adapter.js'

type Merge = (first: DenylistEntry, next: DenylistEntry) => DenylistEntry

function merging(merge: Merge): Denylist {
  const listed = new Map<string, DenylistEntry>()
  return {
    async put(entries) {
      for (const entry of entries) {
        const first = listed.get(entry.id)
        listed.set(entry.id, first ? merge(first, entry) : entry)
      }
    },
    find: async (ids) => [...new Set(ids)].flatMap((id) => listed.get(id) ?? []),
    sweep: async () => 0,
  }
}

const later = (first: DenylistEntry, next: DenylistEntry) => {
  return Math.max(first.expiresAt, next.expiresAt)
}

function wrong(
  fault: string,
  found: readonly string[],
  change: (right: Denylist) => Partial<Denylist>,
): WrongAdapter {
  return {
    fault,
    found,
    twist: ({ denylist }) => ({ denylist: { ...denylist, ...change(denylist) } }),
  }
}

export const wrongDenylists: readonly WrongAdapter[] = [
  wrong(
    'a denylist whose last reason wins',
    [
      'the first reason stays',
      'parallel puts never replace the reason listed first',
      'one id twice in one put is merged like two puts',
    ],
    () => merging((first, next) => ({ ...next, expiresAt: later(first, next) })),
  ),
  wrong('a denylist that shortens an expiry', ['the later expiry wins, whichever came first'], () =>
    merging((first, next) => ({ ...first, expiresAt: next.expiresAt })),
  ),
  wrong(
    'a denylist that reads, then writes',
    ['of parallel puts one reason stays and the latest expiry wins'],
    () => {
      const listed = new Map<string, DenylistEntry>()
      return {
        async put(entries) {
          for (const entry of entries) {
            const first = listed.get(entry.id)
            await turn()
            const expiresAt = first ? later(first, entry) : entry.expiresAt
            listed.set(entry.id, { ...(first ?? entry), expiresAt })
          }
        },
        find: async (ids) => [...new Set(ids)].flatMap((id) => listed.get(id) ?? []),
      }
    },
  ),
  wrong(
    'a denylist that locks ids in the order they come',
    ['parallel puts of the same ids in different orders all succeed'],
    (right) => {
      const locked = new Set<string>()
      return {
        async put(entries) {
          const own = new Set<string>()
          try {
            for (const { id } of entries) {
              if (locked.has(id) && !own.has(id)) throw new Error('deadlock detected')
              locked.add(id)
              own.add(id)
              await turn()
            }
            await right.put(entries)
          } finally {
            for (const id of own) locked.delete(id)
          }
        },
      }
    },
  ),
  wrong(
    'a denylist without reasons',
    ['what was put is found, with its reason and expiry'],
    (right) => ({
      async find(ids) {
        return (await right.find(ids)).map((entry) => ({ ...entry, reason: 'revoked' }))
      },
    }),
  ),
  wrong('a denylist that ignores case', ['what was not put is not found'], (right) => ({
    put: (entries) => right.put(entries.map((one) => ({ ...one, id: one.id.toLowerCase() }))),
    find: (ids) => right.find(ids.map((id) => id.toLowerCase())),
  })),
  wrong(
    'a denylist that fails on nothing',
    ['nothing put and nothing asked are no error'],
    (right) => ({
      async put(entries) {
        if (entries.length === 0) throw new Error('syntax error at or near ")"')
        await right.put(entries)
      },
    }),
  ),
  wrong(
    'a denylist of a hundred at most',
    ['a thousand entries are put and found at once'],
    (right) => ({
      find: (ids) => right.find(ids.slice(0, 100)),
    }),
  ),
  wrong(
    'a denylist that forgets a millisecond early',
    ['sweep removes what expired at or before a time, up to its limit'],
    (right) => ({ sweep: (before, limit) => right.sweep(before + 1, limit) }),
  ),
]
