import type { Backend } from '../../src/ports/backend.js'
import type { DenylistEntry } from '../../src/ports/denylist.js'

/** An adapter with one fault, and the cases that must name it. */
export interface WrongAdapter {
  readonly fault: string
  readonly found: readonly string[]
  /** What the wrong adapter has instead of the right one's ports. */
  twist(right: Backend): Partial<Backend>
}

function mapDenylist(merge: (first: DenylistEntry, next: DenylistEntry) => DenylistEntry) {
  const listed = new Map<string, DenylistEntry>()
  return {
    async put(entries: readonly DenylistEntry[]) {
      for (const entry of entries) {
        const first = listed.get(entry.id)
        listed.set(entry.id, first ? merge(first, entry) : entry)
      }
    },
    find: async (ids: readonly string[]) => [...new Set(ids)].flatMap((id) => listed.get(id) ?? []),
    sweep: async () => 0,
  }
}

export const wrongDenylists: readonly WrongAdapter[] = [
  {
    fault: 'a denylist whose last reason wins',
    found: ['the first reason stays', 'parallel puts never replace the reason listed first'],
    twist: () => ({
      denylist: mapDenylist((first, next) => {
        return { ...next, expiresAt: Math.max(first.expiresAt, next.expiresAt) }
      }),
    }),
  },
  {
    fault: 'a denylist that shortens an expiry',
    found: ['the later expiry wins, whichever came first'],
    twist: () => ({
      denylist: mapDenylist((first, next) => ({ ...first, expiresAt: next.expiresAt })),
    }),
  },
  {
    fault: 'a denylist that reads, then writes',
    found: ['of parallel puts one reason stays and the latest expiry wins'],
    twist: () => {
      const listed = new Map<string, DenylistEntry>()
      return {
        denylist: {
          async put(entries) {
            for (const entry of entries) {
              const first = listed.get(entry.id)
              await null
              const expiresAt = Math.max(first?.expiresAt ?? 0, entry.expiresAt)
              listed.set(entry.id, { ...(first ?? entry), expiresAt })
            }
          },
          find: async (ids) => [...new Set(ids)].flatMap((id) => listed.get(id) ?? []),
          sweep: async () => 0,
        },
      }
    },
  },
  {
    fault: 'a denylist that forgets the expired a millisecond early',
    found: ['sweep removes what expired at or before a time, up to its limit'],
    twist: ({ denylist }) => ({
      denylist: { ...denylist, sweep: (before, limit) => denylist.sweep(before + 1, limit) },
    }),
  },
]

export const wrongLeases: readonly WrongAdapter[] = [
  {
    fault: 'a lease that compares owners only',
    found: [
      'replace needs exactly the record it saw',
      'the fencing number grows from holder to holder and old sights never win',
    ],
    twist: ({ lease }) => ({
      lease: {
        ...lease,
        async replace(name, seen, next) {
          const stored = await lease.read(name)
          if (stored?.owner !== seen?.owner) return false
          return lease.replace(name, stored, next)
        },
      },
    }),
  },
  {
    fault: 'a lease that reads, then writes',
    found: [
      'of eight racers that saw no record, one creates it',
      'of eight racers that saw one record, one replaces it',
    ],
    twist: ({ lease }) => ({
      lease: {
        ...lease,
        async replace(name, seen, next) {
          const stored = await lease.read(name)
          if (stored?.owner !== seen?.owner || stored?.renewal !== seen?.renewal) return false
          // However the record has changed since: a blind write.
          while (!(await lease.replace(name, await lease.read(name), next)));
          return true
        },
      },
    }),
  },
  {
    fault: 'a lease whose release starts the numbers anew',
    found: ['the fencing number grows from holder to holder and old sights never win'],
    twist: ({ lease }) => ({
      lease: {
        ...lease,
        replace: (name, seen, next) => {
          return lease.replace(name, seen, next.owner === null ? { ...next, renewal: 0 } : next)
        },
      },
    }),
  },
]

interface Window {
  count: number
  resetsAt: number
}

export const wrongCounters: readonly WrongAdapter[] = [
  {
    fault: 'a counter that checks, then counts',
    found: [
      'of twenty parallel hits with a limit of five, five are allowed',
      'of twenty parallel hits after a window ended, the limit is allowed',
    ],
    twist: ({ counter }) => ({
      counter: {
        ...counter,
        async hit(key, windowMs, limit, now) {
          const seen = await counter.hit(key, windowMs, 0, now)
          if (seen.count >= limit) return { ...seen, allowed: false }
          return counter.hit(key, windowMs, Number.MAX_SAFE_INTEGER, now)
        },
      },
    }),
  },
  {
    fault: 'a counter that counts refused hits',
    found: ['hits are counted up to the limit and refused beyond it'],
    twist: ({ counter }) => ({
      counter: {
        ...counter,
        async hit(key, windowMs, limit, now) {
          const hit = await counter.hit(key, windowMs, Number.MAX_SAFE_INTEGER, now)
          return { ...hit, allowed: hit.count <= limit }
        },
      },
    }),
  },
  {
    fault: 'a counter whose every hit extends the window',
    found: ['a window starts with its first hit and no later hit extends it'],
    twist: ({ counter }) => {
      const windows = new Map<string, Window>()
      return {
        counter: {
          ...counter,
          async hit(key, windowMs, limit, now) {
            const running = windows.get(key)
            const window = running && running.resetsAt > now ? running : { count: 0, resetsAt: 0 }
            const allowed = window.count < limit
            window.count += allowed ? 1 : 0
            window.resetsAt = now + windowMs
            windows.set(key, window)
            return { allowed, ...window }
          },
        },
      }
    },
  },
  {
    fault: "a counter that goes by the machine's clock",
    found: ['only the time that is passed counts'],
    twist: ({ counter }) => ({
      counter: {
        ...counter,
        hit: (key, windowMs, limit) => counter.hit(key, windowMs, limit, Date.now()),
      },
    }),
  },
]
