// An adapter as it is written against the ports of the first release, and never changed again: a change
// that becomes necessary here breaks every adapter out there. It imports nothing and spells out what it
// knows: `update` answers the document or null, and indexes may be unique. From now on ports gain optional
// members only. It has none of those there are (`useLogger`, `findsInGroups`, `atOnce`, `Counter.add`), and
// so stands for the adapters that know none of the later ones.

export type FrozenTest =
  | (string | number | boolean | null)
  | { readonly in: readonly (string | number | boolean | null)[] }
  | { readonly gt: number }
  | { readonly lte: number }

export interface FrozenSpec {
  readonly name: string
  readonly fields: Readonly<
    Record<
      string,
      {
        readonly kind: 'text' | 'integer' | 'boolean' | 'time' | 'json'
        readonly nullable?: true
        readonly default?: unknown
      }
    >
  >
  readonly indexes: readonly { readonly on: readonly string[]; readonly unique?: true }[]
  readonly expires: 'never' | 'fixed' | 'sliding' | 'due'
}

export interface FrozenPage {
  readonly limit: number
  readonly after?: string
  readonly newestFirst?: true
}

export interface FrozenEntry {
  readonly id: string
  readonly reason: 'revoked' | 'max_age'
  readonly expiresAt: number
}

export interface FrozenRecord {
  readonly owner: string | null
  readonly renewal: number
}

interface Stored {
  readonly id: string
  readonly expiresAt: number | null
}

function holds(doc: object, tests: object): boolean {
  return Object.entries(tests).every(([name, test]: [string, FrozenTest]) => {
    const value: unknown = Reflect.get(doc, name)
    if (typeof test !== 'object' || test === null) return value === test
    if ('in' in test) return test.in.some((one) => one === value)
    return typeof value === 'number' && ('gt' in test ? value > test.gt : value <= test.lte)
  })
}

const byId = (a: Stored, b: Stored): number => (a.id < b.id ? -1 : 1)

function collectionOf<T extends Stored>(rows: Map<string, string>, spec: FrozenSpec) {
  const names = ['id', 'expiresAt', ...Object.keys(spec.fields)]
  const unique = spec.indexes.filter((index) => index.unique)

  function read(text: string): T {
    const row = JSON.parse(text)
    const entries = names.map((name) => {
      return [name, name in row ? row[name] : structuredClone(spec.fields[name]?.default ?? null)]
    })
    return Object.fromEntries(entries)
  }
  const all = (): T[] => [...rows.values()].map(read)
  const one = (id: string): T | null => {
    const text = rows.get(id)
    return text === undefined ? null : read(text)
  }
  const isTaken = (doc: T): boolean => {
    return unique.some(({ on }) => {
      const tuple = Object.fromEntries(on.map((name) => [name, Reflect.get(doc, name)]))
      return all().some((other) => other.id !== doc.id && holds(other, tuple))
    })
  }
  const expired = (before: number): T[] => {
    const found = all().filter((doc) => doc.expiresAt !== null && doc.expiresAt <= before)
    return found.sort((a, b) => Number(a.expiresAt) - Number(b.expiresAt) || byId(a, b))
  }

  return {
    get: async (id: string) => one(id),
    async find(equal: object, { limit, after, newestFirst }: FrozenPage) {
      const found = all().filter((doc) => holds(doc, equal))
      const sorted = newestFirst ? found.sort(byId).reverse() : found.sort(byId)
      const rest = sorted.filter(({ id }) => {
        return after === undefined || (newestFirst ? id < after : id > after)
      })
      return rest.slice(0, limit)
    },
    async insert(doc: T) {
      if (rows.has(doc.id) || isTaken(doc)) return false
      rows.set(doc.id, JSON.stringify(doc))
      return true
    },
    async update(id: string, guard: object, set: object) {
      const doc = one(id)
      if (!doc || !holds(doc, guard) || isTaken({ ...doc, ...set })) return null
      rows.set(id, JSON.stringify({ ...JSON.parse(rows.get(id) ?? ''), ...set }))
      return one(id)
    },
    async take(id: string, guard: object = {}) {
      const doc = one(id)
      if (!doc || !holds(doc, guard)) return null
      rows.delete(id)
      return doc
    },
    due: async (before: number, limit: number) => expired(before).slice(0, limit),
    async sweep(before: number, limit: number) {
      const swept = expired(before).slice(0, limit)
      for (const { id } of swept) rows.delete(id)
      return { removed: swept.length, left: Math.min(100_000, expired(before).length) }
    },
  }
}

function sweepMap(map: Map<string, { readonly expiresAt: number }>, before: number, limit: number) {
  const swept = [...map].filter(([, { expiresAt }]) => expiresAt <= before).slice(0, limit)
  for (const [id] of swept) map.delete(id)
  return swept.length
}

export function frozenAdapter() {
  const tables = new Map<string, Map<string, string>>()
  const listed = new Map<string, FrozenEntry>()
  const records = new Map<string, FrozenRecord>()
  const windows = new Map<string, { count: number; readonly expiresAt: number }>()
  const rowsOf = (name: string): Map<string, string> => {
    const rows = tables.get(name) ?? new Map<string, string>()
    tables.set(name, rows)
    return rows
  }
  return {
    store: {
      collection: <T extends Stored>(spec: FrozenSpec) => collectionOf<T>(rowsOf(spec.name), spec),
      prepare: async (_specs: readonly FrozenSpec[]) => {},
    },
    denylist: {
      async put(entries: readonly FrozenEntry[]) {
        for (const { id, reason, expiresAt } of entries) {
          const known = listed.get(id) ?? { reason, expiresAt }
          const later = Math.max(known.expiresAt, expiresAt)
          listed.set(id, { id, reason: known.reason, expiresAt: later })
        }
      },
      find: async (ids: readonly string[]) =>
        [...listed.values()].filter((e) => ids.includes(e.id)),
      sweep: async (before: number, limit: number) => sweepMap(listed, before, limit),
    },
    lease: {
      read: async (name: string) => records.get(name) ?? null,
      async replace(name: string, seen: FrozenRecord | null, next: FrozenRecord) {
        const now = records.get(name)
        if (now?.owner !== seen?.owner || now?.renewal !== seen?.renewal) return false
        records.set(name, { owner: next.owner, renewal: next.renewal })
        return true
      },
    },
    counter: {
      async hit(key: string, windowMs: number, limit: number, now: number) {
        const running = windows.get(key)
        const isOver = !running || running.expiresAt <= now
        const window = isOver ? { count: 0, expiresAt: now + windowMs } : running
        const allowed = window.count < limit
        if (allowed) window.count += 1
        windows.set(key, window)
        return { allowed, count: window.count, resetsAt: window.expiresAt }
      },
      async forgive(key: string, hits?: number) {
        const window = windows.get(key)
        if (hits === undefined) windows.delete(key)
        else if (window) window.count = Math.max(0, window.count - hits)
      },
      sweep: async (before: number, limit: number) => sweepMap(windows, before, limit),
    },
  }
}
