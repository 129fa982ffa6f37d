import { setImmediate as turn } from 'node:timers/promises'
import type { Backend, Counter, Denylist, DenylistEntry } from '../../../src/ports/backend.js'
import { type AddingCounter, addingCounter } from '../../../src/testing/shared/adding-counter.js'
import type { WrongAdapter } from './wrong-adapter.js'

type Port = 'counter' | 'denylist' | 'lease'

/** Makes adapters whose one port differs from the right one. */
const wrongIn =
  <P extends Port>(port: P) =>
  (
    fault: string,
    found: readonly string[],
    change: (right: Backend[P]) => Partial<Backend[P]>,
  ): WrongAdapter => {
    const twist = (right: Backend) => ({ [port]: { ...right[port], ...change(right[port]) } })
    return { fault, found, twist }
  }

const wrongCounter = wrongIn('counter')
const wrongDenylist = wrongIn('denylist')
const wrongLease = wrongIn('lease')

const unlimited = Number.MAX_SAFE_INTEGER

interface Window {
  count: number
  resetsAt: number
  lengthMs: number
}

/** A counter kept in a map, with `change` applied to a window at every hit. */
function counting(change: (window: Window, windowMs: number, now: number) => void) {
  return (right: Counter): Partial<Counter> => {
    const windows = new Map<string, Window>()
    return {
      ...right,
      async hit(key, windowMs, limit, now) {
        const known = windows.get(key)
        const running = known && known.resetsAt > now
        const window = running ? known : { count: 0, resetsAt: now + windowMs, lengthMs: windowMs }
        windows.set(key, window)
        change(window, windowMs, now)
        const allowed = window.count < limit
        if (allowed) window.count += 1
        return { allowed, count: window.count, resetsAt: window.resetsAt }
      },
    }
  }
}

export const wrongCounters: readonly WrongAdapter[] = [
  wrongCounter(
    'a counter that checks, then counts',
    [
      'of twenty parallel hits with a limit of five, five are allowed',
      'of twenty parallel hits after a window ended, the limit is allowed',
    ],
    (right) => ({
      async hit(key, windowMs, limit, now) {
        const seen = await right.hit(key, windowMs, 0, now)
        if (seen.count >= limit) return { ...seen, allowed: false }
        return right.hit(key, windowMs, unlimited, now)
      },
    }),
  ),
  wrongCounter(
    'a counter that counts refused hits',
    [
      'hits are counted up to the limit and refused beyond it',
      'another limit counts from the next hit',
      'a limit of 0 refuses every hit',
    ],
    (right) => ({
      async hit(key, windowMs, limit, now) {
        const hit = await right.hit(key, windowMs, unlimited, now)
        return { ...hit, allowed: hit.count <= limit }
      },
    }),
  ),
  wrongCounter(
    'a counter whose every hit extends the window',
    ['a window starts with its first hit and no later hit extends it'],
    counting((window, windowMs, now) => {
      window.resetsAt = now + windowMs
    }),
  ),
  wrongCounter(
    'a counter whose windows change their length',
    ['a running window keeps its end when another length is asked'],
    counting((window, windowMs) => {
      window.resetsAt += windowMs - window.lengthMs
      window.lengthMs = windowMs
    }),
  ),
  wrongCounter(
    "a counter that goes by the machine's clock",
    ['only the time that is passed counts'],
    (right) => ({ hit: (key, windowMs, limit) => right.hit(key, windowMs, limit, Date.now()) }),
  ),
  wrongCounter('a counter that ignores case', ['keys are counted apart'], (right) => ({
    hit: (key, windowMs, limit, now) => right.hit(key.toLowerCase(), windowMs, limit, now),
  })),
  wrongCounter(
    'a forgive that hands back one hit, however many were asked',
    ['forgive hands back hits, never below zero'],
    (right) => ({ forgive: (key, hits) => right.forgive(key, hits && 1) }),
  ),
  wrongCounter(
    'a forgive that keeps the window',
    ['forgive without a number forgets the key'],
    (right) => ({ forgive: (key, hits) => right.forgive(key, hits ?? unlimited) }),
  ),
  wrongCounter(
    'a forgive that needs a window',
    ['forgive of an unknown key does nothing'],
    (right) => {
      const known = new Set<string>()
      return {
        hit(key, ...rest) {
          known.add(key)
          return right.hit(key, ...rest)
        },
        async forgive(key, hits) {
          if (!known.has(key)) throw new Error(`no window of ${key}`)
          await right.forgive(key, hits)
        },
      }
    },
  ),
  wrongCounter(
    'a forgive that reads, then writes',
    ['parallel hits and forgives lose nothing'],
    (right) => {
      const counts = new Map<string, number>()
      return {
        async hit(key, windowMs, limit, now) {
          const hit = await right.hit(key, windowMs, limit, now)
          counts.set(key, hit.count)
          return hit
        },
        async forgive(key, hits = 0) {
          const count = counts.get(key) ?? 0
          await turn()
          await right.forgive(key)
          for (let hit = hits; hit < count; hit++) await right.hit(key, 60_000, unlimited, 1)
        },
      }
    },
  ),
  wrongCounter(
    'a sweep of windows that still run',
    ['sweep removes windows that ended, up to its limit'],
    (right) => ({ sweep: (before, limit) => right.sweep(before + 1, limit) }),
  ),
]

type Add = AddingCounter['add']

/** A counter whose `add` is another one. */
function adding(
  fault: string,
  found: readonly string[],
  add: (right: AddingCounter, ...call: Parameters<Add>) => ReturnType<Add>,
): WrongAdapter {
  return wrongCounter(fault, found, (right) => {
    return { add: (...call) => add(addingCounter(right), ...call) }
  })
}

export const wrongAdditions: readonly WrongAdapter[] = [
  adding(
    'an add that counts one hit, however many were made',
    ['add counts all its hits, and hit goes on from there'],
    (right, ...[key, windowMs, limit, now]) => right.add(key, windowMs, limit, now, 1),
  ),
  adding(
    'an add of one hit after the other',
    ['of eight parallel additions, as many hits are counted as have room'],
    async (right, ...[key, windowMs, limit, now, hits]) => {
      let last = await right.hit(key, windowMs, limit, now)
      for (let hit = 1; hit < hits; hit++) last = await right.hit(key, windowMs, limit, now)
      return last
    },
  ),
  adding(
    'an add of all hits or none',
    [
      'add counts the hits that have room and is refused when not all have',
      'add of more hits than the limit fills a new window',
    ],
    async (right, ...[key, windowMs, limit, now, hits]) => {
      const { count, resetsAt } = await right.add(key, windowMs, unlimited, now, hits)
      const allowed = count <= limit
      if (!allowed) await right.forgive(key, hits)
      return { allowed, count: allowed ? count : count - hits, resetsAt }
    },
  ),
  adding(
    'an add that counts beyond the limit',
    [
      'add counts the hits that have room and is refused when not all have',
      'add within a lowered limit takes back nothing that was counted',
    ],
    async (right, ...[key, windowMs, limit, now, hits]) => {
      const { count, resetsAt } = await right.add(key, windowMs, unlimited, now, hits)
      return { allowed: count <= limit, count: Math.min(count, limit), resetsAt }
    },
  ),
  adding(
    'an add that cuts a window down to a lowered limit',
    ['add within a lowered limit takes back nothing that was counted'],
    async (right, ...[key, windowMs, limit, now, hits]) => {
      const answer = await right.add(key, windowMs, limit, now, hits)
      if (answer.count > limit) await right.forgive(key, answer.count - limit)
      return { ...answer, count: Math.min(answer.count, limit) }
    },
  ),
  adding(
    'an add that starts the window anew',
    ['a window starts with the first hits added and no later ones extend it'],
    async (right, ...[key, windowMs, limit, now, hits]) => {
      const { count } = await right.hit(key, windowMs, 0, now)
      await right.forgive(key)
      return right.add(key, windowMs, limit, now, count + hits)
    },
  ),
  adding(
    'an add that reads, then writes',
    ['parallel additions, hits and forgives lose nothing'],
    async (right, ...[key, windowMs, limit, now, hits]) => {
      const { count } = await right.hit(key, windowMs, 0, now)
      await turn()
      await right.forgive(key)
      return right.add(key, windowMs, limit, now, count + hits)
    },
  ),
]

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

export const wrongDenylists: readonly WrongAdapter[] = [
  wrongDenylist(
    'a denylist whose last reason wins',
    [
      'the first reason stays',
      'parallel puts never replace the reason listed first',
      'one id twice in one put is merged like two puts',
    ],
    () => merging((first, next) => ({ ...next, expiresAt: later(first, next) })),
  ),
  wrongDenylist(
    'a denylist that shortens an expiry',
    ['the later expiry wins, whichever came first'],
    () => merging((first, next) => ({ ...first, expiresAt: next.expiresAt })),
  ),
  wrongDenylist(
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
  wrongDenylist(
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
  wrongDenylist(
    'a denylist without reasons',
    ['what was put is found, with its reason and expiry'],
    (right) => ({
      async find(ids) {
        return (await right.find(ids)).map((entry) => ({ ...entry, reason: 'revoked' }))
      },
    }),
  ),
  wrongDenylist('a denylist that ignores case', ['what was not put is not found'], (right) => ({
    put: (entries) => right.put(entries.map((one) => ({ ...one, id: one.id.toLowerCase() }))),
    find: (ids) => right.find(ids.map((id) => id.toLowerCase())),
  })),
  wrongDenylist(
    'a denylist that fails on nothing',
    ['nothing put and nothing asked are no error'],
    (right) => ({
      async put(entries) {
        if (entries.length === 0) throw new Error('syntax error at or near ")"')
        await right.put(entries)
      },
    }),
  ),
  wrongDenylist(
    'a denylist of a hundred at most',
    ['a thousand entries are put and found at once'],
    (right) => ({
      find: (ids) => right.find(ids.slice(0, 100)),
    }),
  ),
  wrongDenylist(
    'a denylist that forgets a millisecond early',
    ['sweep removes what expired at or before a time, up to its limit'],
    (right) => ({ sweep: (before, limit) => right.sweep(before + 1, limit) }),
  ),
]

export const wrongLeases: readonly WrongAdapter[] = [
  wrongLease(
    'a lease that compares owners only',
    [
      'replace needs exactly the record it saw',
      'the fencing number grows from holder to holder and old sights never win',
    ],
    (right) => ({
      async replace(name, seen, next) {
        const stored = await right.read(name)
        if (stored?.owner !== seen?.owner) return false
        return right.replace(name, stored, next)
      },
    }),
  ),
  wrongLease(
    'a lease that reads, then writes',
    [
      'of eight racers that saw no record, one creates it',
      'of eight racers that saw one record, one replaces it',
    ],
    (right) => ({
      async replace(name, seen, next) {
        const stored = await right.read(name)
        if (stored?.owner !== seen?.owner || stored?.renewal !== seen?.renewal) return false
        // However the record has changed since: a blind write.
        while (!(await right.replace(name, await right.read(name), next)));
        return true
      },
    }),
  ),
  wrongLease(
    'a lease whose release starts the numbers anew',
    ['the fencing number grows from holder to holder and old sights never win'],
    (right) => ({
      replace: (name, seen, next) => {
        return right.replace(name, seen, next.owner === null ? { ...next, renewal: 0 } : next)
      },
    }),
  ),
  wrongLease(
    'a lease that reads as released when nobody ever held it',
    ['a lease nobody ever held reads as null'],
    (right) => ({
      async read(name) {
        return (await right.read(name)) ?? { owner: null, renewal: 0 }
      },
    }),
  ),
  wrongLease(
    'leases of all names in one record',
    ['replace creates the record when null was seen'],
    (right) => ({
      read: () => right.read('lease'),
      replace: (_name, seen, next) => right.replace('lease', seen, next),
    }),
  ),
  wrongLease(
    'a released lease that may be created',
    ['replace that saw null fails once there is a record, even a released one'],
    (right) => ({
      async replace(name, seen, next) {
        const stored = await right.read(name)
        return right.replace(name, stored?.owner === null ? (seen ?? stored) : seen, next)
      },
    }),
  ),
]
