import { memory } from '../../adapters/memory/index.js'
import type { Backend } from '../../src/ports/backend.js'
import type { AnyCollectionSpec, Collection, CollectionSpec, Doc } from '../../src/ports/store.js'
import { always, field, judged, mapFields, type Twist } from '../adapters/wrong/wrong-adapter.js'
import { claimsAdapter } from './claims-adapter.js'
import { type Declare, lostUnique, planted, withoutUnique } from './planted-adapters.js'

/** A store with one mistake that an author might make, and what the kit tells the author of it. */
export interface PlantedStore {
  readonly fault: string
  /** Called whenever the kit opens the backend: what it keeps by itself is of one process. */
  readonly adapter: (database: Backend) => Backend
  /** A piece of the message, by the name of the case that fails with it. */
  readonly told: Readonly<Record<string, string>>
}

function store(
  fault: string,
  told: PlantedStore['told'],
  twist: Twist,
  declare?: Declare,
): PlantedStore {
  return { fault, told, adapter: planted(fault, twist, [], declare).adapter }
}

/** A store whose small ports differ from the database's. */
function ports(
  fault: string,
  told: PlantedStore['told'],
  change: (right: Backend) => Partial<Backend>,
): PlantedStore {
  return { fault, told, adapter: (database) => ({ ...database, ...change(database) }) }
}

/** What was read, for as long as `ms`; a write of this process empties it. */
function cache(ms: number) {
  const kept = new Map<string, { readonly at: number; readonly value: unknown }>()
  return {
    async read<R>(key: string, ask: () => Promise<R>): Promise<R> {
      const known = kept.get(key)
      if (known && Date.now() - known.at < ms) return structuredClone(known.value) as R
      const value = await ask()
      kept.set(key, { at: Date.now(), value: structuredClone(value) })
      return value
    },
    async write<R>(write: () => Promise<R>): Promise<R> {
      kept.clear()
      return write().finally(() => kept.clear())
    },
  }
}

/** The collection with what `keeps` names read from a cache. */
const cached =
  (ms: number, keeps: 'get' | 'find'): Twist =>
  <T extends Doc>(right: Collection<T>): Collection<T> => {
    const { read, write } = cache(ms)
    return {
      ...right,
      get: (id) => (keeps === 'get' ? read(id, () => right.get(id)) : right.get(id)),
      find(equal, page) {
        const ask = () => right.find(equal, page)
        return keeps === 'find' ? read(JSON.stringify([equal, page]), ask) : ask()
      },
      insert: (doc) => write(() => right.insert(doc)),
      update: (...call) => write(() => right.update(...call)),
      take: (...call) => write(() => right.take(...call)),
      sweep: (...call) => write(() => right.sweep(...call)),
    }
  }

export const staleStores: readonly PlantedStore[] = [
  store(
    'a cache in front of get',
    {
      'what one process writes, another gets at once': 'another process must see an insert at once',
    },
    cached(Number.POSITIVE_INFINITY, 'get'),
  ),
  store(
    'a find that is five seconds stale in another process',
    {
      'what one process writes, another finds at once':
        'another process must see an insert at once',
    },
    cached(5000, 'find'),
  ),
  ports(
    'a denylist that is five seconds stale in another process',
    {
      'what one process puts on the denylist, another finds at once':
        'another process must see a sign-out at once',
    },
    ({ denylist }) => {
      const { read, write } = cache(5000)
      return {
        denylist: {
          put: (entries) => write(() => denylist.put(entries)),
          find: (ids) => read(ids.join(), () => denylist.find(ids)),
          sweep: (...call) => write(() => denylist.sweep(...call)),
        },
      }
    },
  ),
  store(
    'a guard judged on what this process read last',
    {
      'a guard goes by what another process wrote':
        'a guard that held when this process last looked holds no more',
    },
    (right) => {
      const { read, write } = cache(5000)
      const get = (id: string) => read(id, () => right.get(id))
      return {
        get,
        async update(id, guard, set) {
          const seen = await get(id)
          if (seen && !judged(seen, guard)) return null
          return write(() => right.update(id, always(id), set))
        },
      }
    },
  ),
  ports(
    'a counter of its own in each process',
    { 'hits of two processes are counted together': 'one count for all processes, and one limit' },
    () => ({ counter: memory().counter }),
  ),
  ports(
    'a lease of its own in each process',
    {
      'a lease that one process takes, another sees at once':
        'the second does not see a lease that the first took',
    },
    () => ({ lease: memory().lease }),
  ),
  {
    fault: 'unique indexes that only the process that prepared knows',
    told: {
      'a unique value that one process holds is refused to another':
        'a unique value that another process holds must be refused',
    },
    adapter(database) {
      const prepared = new Set<string>()
      return {
        ...database,
        store: {
          async prepare(specs) {
            for (const { name } of specs) prepared.add(name)
            await database.store.prepare(specs.map(withoutUnique))
          },
          collection(spec) {
            const right = database.store.collection(withoutUnique(spec))
            return prepared.has(spec.name) ? { ...right, ...lostUnique(right, spec) } : right
          },
        },
      }
    },
  },
]

const cutOff = (write: string, told: string) => ({ [`cut off after each command: ${write}`]: told })

/** A list beside the documents, of which one part of each is its own record. */
const listSpec = ({ name }: AnyCollectionSpec): CollectionSpec<Entry> => ({
  name: `${name}_list`,
  fields: { doc: { kind: 'text' }, team: { kind: 'text', nullable: true } },
  indexes: [{ on: ['team'] }],
  expires: 'sliding',
})

interface Entry extends Doc {
  readonly doc: string
  readonly team: string | null
}

/** Documents with a list beside them, which `change` reads and writes. */
function listed(
  fault: string,
  told: PlantedStore['told'],
  change: (list: Collection<Entry>, right: Collection<Doc>) => Partial<Collection<Doc>>,
): PlantedStore {
  const adapter = ({ store, ...others }: Backend): Backend => ({
    ...others,
    store: {
      prepare: (specs) => store.prepare(specs.flatMap((spec) => [spec, listSpec(spec)])),
      collection<T extends Doc>(spec: CollectionSpec<T>): Collection<T> {
        const right = store.collection(spec)
        const plain = right as unknown as Collection<Doc>
        return { ...right, ...(change(store.collection(listSpec(spec)), plain) as object) }
      },
    },
  })
  return { fault, told, adapter }
}

function entryOf(doc: Doc): Entry {
  const team: unknown = field(doc, 'team')
  return {
    id: doc.id,
    doc: doc.id,
    team: typeof team === 'string' ? team : null,
    expiresAt: doc.expiresAt,
  }
}

/** An e-mail address is claimed first and given up last, and nobody asks what became of who claimed it. */
function claimsThatStay(
  claims: Collection<Entry>,
  right: Collection<Doc>,
): Partial<Collection<Doc>> {
  const emailOf = (doc: object) => String(field(doc, 'email'))
  const giveUp = async (doc: object | null) => doc && claims.take(emailOf(doc))
  async function claim<R>(doc: Doc, refused: R, write: () => Promise<R>): Promise<R> {
    if (!(await claims.insert({ ...entryOf(doc), id: emailOf(doc), expiresAt: null })))
      return refused
    const result = await write()
    if (!result) await giveUp(doc)
    return result
  }
  return {
    insert: (doc) => claim(doc, false, () => right.insert(doc)),
    async update(id, guard, set) {
      const seen = await right.get(id)
      const next = seen && { ...seen, ...set }
      if (!next || emailOf(next) === emailOf(seen)) return right.update(id, guard, set)
      const done = await claim<Doc | null>(next, null, () => right.update(id, guard, set))
      if (done) await giveUp(seen)
      return done
    },
    async take(id, guard) {
      const taken = await right.take(id, guard)
      await giveUp(taken)
      return taken
    },
  }
}

export const halfWrittenStores: readonly PlantedStore[] = [
  listed(
    'a write that dies half-way and keeps a unique value for ever',
    {
      ...cutOff('an insert', 'the unique value of email is lost: nobody has it'),
      ...cutOff('an update of unique values', 'the unique value of email is lost: nobody has it'),
      ...cutOff('a take', '  cut off after command 1\n    1. collection.take('),
    },
    claimsThatStay,
  ),
  {
    fault: 'a value taken from a write that is slow and ends all the same',
    told: {
      'interleaved: of two updates to one unique value, one wins and one answers null':
        'exactly one update may win',
    },
    adapter: (database) => claimsAdapter(database, true),
  },
  store(
    'an insert whose fields are filled in by an update',
    cutOff('an insert', 'it must be carried out whole or not at all'),
    (right) => ({
      async insert(doc) {
        const team: unknown = field(doc, 'team')
        const isNew = await right.insert({ ...doc, team: null })
        if (isNew) await right.update(doc.id, always(doc.id), { team } as object)
        return isNew
      },
    }),
  ),
  listed(
    'an index entry that follows its document',
    cutOff('an insert', 'find by team and get must agree'),
    (list, right) => ({
      async insert(doc) {
        return (await right.insert(doc)) && list.insert(entryOf(doc))
      },
      async find(equal, page) {
        const team: unknown = field(equal, 'team')
        if (typeof team !== 'string') return right.find(equal, page)
        const entries = await list.find({ team }, page)
        const docs = await Promise.all(entries.map(({ doc }) => right.get(doc)))
        return docs.filter((doc) => doc !== null && field(doc, 'team') === team) as Doc[]
      },
    }),
  ),
  listed(
    'a sweep that strikes off its list what it is about to remove',
    cutOff('a sweep', 'the sweep after it must remove what expired'),
    (list, right) => ({
      async insert(doc) {
        await list.insert(entryOf(doc))
        return right.insert(doc)
      },
      async take(id, guard) {
        const taken = await right.take(id, guard)
        if (taken) await list.take(id)
        return taken
      },
      async sweep(before, limit) {
        const due = await list.due(before, limit)
        for (const { id, expiresAt } of due) {
          await list.take(id, { expiresAt })
          await right.take(id, { expiresAt })
        }
        return { removed: due.length, left: (await list.due(before, 1000)).length }
      },
    }),
  ),
]

/** The collection, with every document changed on its way in. */
const storedAs = (change: (value: unknown, name: string) => unknown): Twist => {
  return (right) => ({
    insert: (doc) => right.insert(mapFields(doc, change)),
    update: (id, guard, set) => right.update(id, guard, mapFields(set, change)),
  })
}

/** A time read back as if the clock on a wall in New York had shown it: an hour a year has two meanings. */
function localTime(time: number): number {
  const shown = new Date(time).toLocaleString('sv-SE', { timeZone: 'America/New_York' })
  const asUtc = Date.parse(`${shown.replace(' ', 'T')}Z`) + (((time % 1000) + 1000) % 1000)
  const summer = asUtc + 4 * 3_600_000
  const again = new Date(summer).toLocaleString('sv-SE', { timeZone: 'America/New_York' })
  return again === shown ? summer : asUtc + 5 * 3_600_000
}

const isTime = (name: string) => ['bornAt', 'seenAt', 'expiresAt'].includes(name)

const dictionary = new Intl.Collator('en')

/** As a database folds what it compares: case, accents, width, and characters that nobody sees. */
const folded = (value: unknown) => {
  return String(value)
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .toLowerCase()
}

export const mistakenStores: readonly PlantedStore[] = [
  store(
    'a page cut short',
    { 'find returns up to 1,000 documents': 'a page must not be cut short' },
    (right) => ({
      find: (equal, page) => right.find(equal, { ...page, limit: Math.min(page.limit, 100) }),
    }),
  ),
  store(
    'a page that begins with the last document of the one before',
    { 'a page starts strictly after an id, which need not exist': 'existing id' },
    (right) => ({
      async find(equal, { after, ...page }) {
        const last = after === undefined ? null : await right.get(after)
        const found = await right.find(equal, after === undefined ? page : { ...page, after })
        const isInIndex = last !== null && judged(last, equal)
        return isInIndex && page.newestFirst === undefined
          ? [last, ...found].slice(0, page.limit)
          : found
      },
    }),
  ),
  store(
    'pages in the order of a dictionary',
    {
      'find sorts ids by code unit, whatever the locale':
        'ids must come in the order of their code units',
    },
    (right) => ({
      async find(equal, page) {
        return [...(await right.find(equal, page))].sort((a, b) => dictionary.compare(a.id, b.id))
      },
    }),
  ),
  store(
    'an index of which one field is looked at',
    { 'find returns the documents equal in every field of an index': 'two fields' },
    (right) => ({
      async find(equal, page) {
        const [first = []] = Object.entries(equal)
        if (!('enabled' in equal)) return right.find(equal, page)
        const found = await Promise.all(
          [0, 1, 2].map((count) => right.find({ ...equal, count }, page)),
        )
        return found.flat().filter((doc) => judged(doc, Object.fromEntries([first])))
      },
    }),
  ),
  store(
    'a guard of which one condition is lost',
    { 'every field of a guard must hold': 'the guard {"team":"x","count":1} must miss' },
    (right) => ({
      async update(id, guard, set) {
        await right.update('nobody has this id', guard, set)
        const [first = []] = Object.entries(guard)
        return right.update(id, Object.fromEntries([first]), set)
      },
    }),
  ),
  store(
    'reads from a replica that is one write behind',
    { 'what a write acknowledged, the next read sees': 'get must not be stale' },
    <T extends Doc>(right: Collection<T>) => {
      const behind = new Map<string, T>()
      return {
        async get(id: string) {
          const now = await right.get(id)
          const shown = behind.get(id) ?? now
          if (now) behind.set(id, now)
          return shown
        },
      }
    },
  ),
  store(
    'times held to the second',
    { 'times keep every millisecond from 1970 to 2100': 'time 1' },
    storedAs((value, name) =>
      isTime(name) && value ? Math.floor(Number(value) / 1000) * 1000 : value,
    ),
  ),
  store(
    'an expiry rounded up to the next second, as a TTL is',
    { 'sweep removes what expired at or before a time, never earlier': 'what sweep answers' },
    (right) => ({
      sweep: (before, limit) => right.sweep(Math.floor(before / 1000) * 1000 - 1, limit),
    }),
  ),
  store(
    'times held as local time',
    { 'times keep every millisecond from 1970 to 2100': `time ${Date.UTC(2030, 10, 3, 6, 30)}` },
    storedAs((value, name) =>
      isTime(name) && typeof value === 'number' ? localTime(value) : value,
    ),
  ),
  store(
    'text that looks like a number stored as one',
    { 'text comes back as it was given, to the last code unit': '007' },
    storedAs((value, name) => {
      const isNumber =
        typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value))
      return name === 'note' && isNumber ? String(Number(value)) : value
    }),
  ),
  store(
    'truth stored as 0 and 1',
    { 'booleans, null and empty text come back as themselves': 'falsy: answered by update' },
    <T extends Doc>(right: Collection<T>) => {
      const read = (doc: T | null): T | null =>
        doc && mapFields(doc, (value) => (typeof value === 'boolean' ? Number(value) : value))
      return {
        update: async (id, guard, set) => read(await right.update(id, guard, set)),
        get: async (id) => read(await right.get(id)),
      } satisfies Partial<Collection<T>>
    },
  ),
  store(
    'unique values compared without case, accents and what nobody sees',
    { 'unique values differ by case, accent and trailing space': 'is free' },
    (right) => {
      const known = new Set<string>()
      return {
        async insert(doc) {
          const email = folded(field(doc, 'email'))
          if (known.has(email)) return false
          known.add(email)
          return right.insert(doc)
        },
      }
    },
  ),
  store(
    'a take in two steps',
    { 'interleaved: of two takes, one receives the document': 'exactly one take may receive it' },
    (right) => ({
      async take(id, guard) {
        const seen = await right.get(id)
        if (!seen || (guard && !judged(seen, guard))) return right.take(id, guard)
        await right.take(id)
        return seen
      },
    }),
  ),
  store(
    'an update that reads its answer afterwards',
    {
      'interleaved: an update answers the document that it wrote, and no later one':
        'each update must answer the document as it wrote it',
    },
    (right) => ({
      update: async (...call) => (await right.update(...call)) && right.get(call[0]),
    }),
  ),
  store(
    'a sweep that chooses, then removes',
    {
      'interleaved: of a sweep and a renewal, one wins and the other sees it':
        'a renewal that was answered must survive the sweep',
    },
    (right) => ({
      async sweep(before, limit) {
        const due = await right.due(before, limit)
        for (const { id } of due) await right.take(id)
        return { removed: due.length, left: (await right.due(before, 1000)).length }
      },
    }),
  ),
  store(
    'a sweep that counts what it was asked to remove',
    {
      'sweep removes at most its limit and tells what is left':
        'a sweep must tell how many it removed',
    },
    (right) => ({
      sweep: async (before, limit) => ({ ...(await right.sweep(before, limit)), removed: limit }),
    }),
  ),
  store(
    'a write sent again after its answer was lost',
    {
      'an update whose answer was lost rejects and is not repeated':
        'a call whose answer was lost must reject',
    },
    (right) => ({
      update: (...call) =>
        right.update(...call).catch((error: Error) => {
          if (!error.message.includes('ECONNRESET')) throw error
          return right.update(...call)
        }),
    }),
  ),
  ports(
    'a counter that reads, then writes',
    { 'interleaved: of two hits at the limit, one is allowed': 'exactly one hit may be allowed' },
    ({ counter }) => ({
      counter: {
        ...counter,
        async hit(key, windowMs, limit, now) {
          const seen = await counter.hit(key, windowMs, 0, now)
          if (seen.count >= limit) return { ...seen, allowed: false }
          return counter.hit(key, windowMs, Number.MAX_SAFE_INTEGER, now)
        },
      },
    }),
  ),
  ports(
    'a lease that reads, then writes',
    {
      'interleaved: of two replaces of one record, one gets the lease':
        'exactly one racer may get the lease',
    },
    ({ lease }) => ({
      lease: {
        read: (name) => lease.read(name),
        async replace(name, seen, next) {
          const now = await lease.read(name)
          if (now?.renewal !== seen?.renewal || now?.owner !== seen?.owner) return false
          return (await lease.replace(name, seen, next)) || true
        },
      },
    }),
  ),
  ports(
    'a denylist whose last reason wins',
    { 'the first reason stays': 'the first reason must stay' },
    ({ denylist }) => {
      const reasons = new Map<string, 'revoked' | 'max_age'>()
      return {
        denylist: {
          ...denylist,
          async put(entries) {
            for (const { id, reason } of entries) reasons.set(id, reason)
            await denylist.put(entries)
          },
          async find(ids) {
            const found = await denylist.find(ids)
            return found.map((one) => ({ ...one, reason: reasons.get(one.id) ?? one.reason }))
          },
        },
      }
    },
  ),
]
