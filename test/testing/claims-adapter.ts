import { createHash, randomUUID } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import type { Backend } from '../../src/ports/backend.js'
import type {
  AnyCollectionSpec,
  Collection,
  CollectionSpec,
  Doc,
  Guard,
} from '../../src/ports/store.js'
import { checkedStore } from '../../src/stores/checked-store.js'
import { field, judged } from '../adapters/wrong/wrong-adapter.js'

/** Whose a unique value is, by the hash of the value, and which write said so. */
interface Claim extends Doc {
  readonly doc: string
  readonly write: string
}

/** A document as it is stored: not there yet until `live`, and about to be written where `write` is not null. */
interface Stored extends Doc {
  readonly live: boolean
  readonly write: string | null
}

const claimsOf = ({ name }: AnyCollectionSpec): CollectionSpec<Claim> => ({
  name: `${name}_claims`,
  fields: { doc: { kind: 'text' }, write: { kind: 'text' } },
  indexes: [],
  expires: 'never',
})

const storedOf = <S extends AnyCollectionSpec>(spec: S): S => ({
  ...spec,
  fields: {
    ...spec.fields,
    live: { kind: 'boolean' },
    write: { kind: 'text', nullable: true },
  },
  indexes: spec.indexes.map(({ on }) => ({ on: ['live', ...on] })),
})

/** Time for a write that is under way. One that has died needs none, but nobody can tell them apart. */
async function moment(): Promise<void> {
  for (let turns = 0; turns < 5; turns++) await turn()
}

/** Starts again for as long as `attempt` gives undefined: another writer was faster. */
async function settled<R>(attempt: () => Promise<R | undefined>): Promise<R> {
  for (;;) {
    const result = await attempt()
    if (result !== undefined) return result
  }
}

/** The records of one collection, each of which one guarded write changes. */
interface Records {
  readonly docs: Collection<Stored>
  readonly claims: Collection<Claim>
  readonly unique: readonly (readonly string[])[]
  /** A mistake: a write whose value was given to another ends all the same. */
  readonly endsAnyway: boolean
}

function keyOf(doc: object, on: readonly string[]): string {
  const value = JSON.stringify([on, on.map((name) => field(doc, name))])
  return createHash('sha256').update(value).digest('hex')
}

/** Takes back a write that has not ended, so that it never will. Of a new document nothing remains. */
async function undo({ docs }: Records, { id, live, write }: Stored): Promise<void> {
  if (live) await docs.update(id, { write }, { write: null })
  else await docs.take(id, { write, live: false })
}

/** True once the value is this write's; false where a document holds it. */
async function tryClaim(records: Records, key: string, on: readonly string[], own: Stored) {
  const { docs, claims } = records
  const next = { doc: own.id, write: own.write ?? '' }
  if (await claims.insert({ id: key, expiresAt: null, ...next })) return true
  const seen = await claims.get(key)
  if (seen === null) return undefined
  const holder = seen.doc === own.id ? null : await docs.get(seen.doc)
  if (holder?.live && keyOf(holder, on) === key) return false
  if (holder?.write === seen.write) {
    await moment()
    await undo(records, holder)
    return undefined
  }
  const guard = { doc: seen.doc, write: seen.write }
  return (await claims.update(key, guard, next)) === null ? undefined : true
}

async function claimAll(records: Records, next: object, which: Records['unique'], own: Stored) {
  for (const on of which) {
    const key = keyOf(next, on)
    if (!(await settled(() => tryClaim(records, key, on, own)))) return false
  }
  return true
}

async function tryInsert(records: Records, doc: Doc): Promise<boolean | undefined> {
  const { docs, unique } = records
  const placed: Stored = { ...doc, live: false, write: randomUUID() }
  if (!(await docs.insert(placed))) {
    const there = await docs.get(doc.id)
    if (there?.live) return false
    await moment()
    if (there) await undo(records, there)
    return undefined
  }
  if (!(await claimAll(records, doc, unique, placed))) {
    await undo(records, placed)
    return false
  }
  const { write } = placed
  const done = await docs.update(doc.id, { live: false, write }, { live: true, write: null })
  return done === null ? undefined : true
}

async function tryUpdate(records: Records, id: string, asked: Guard<Stored>, set: object) {
  const { docs, unique } = records
  const seen = await docs.get(id)
  if (!seen?.live || !judged(seen, asked)) return null
  const next = { ...seen, ...set }
  const moved = unique.filter((on) => keyOf(seen, on) !== keyOf(next, on))
  const same = Object.fromEntries(unique.flat().map((name) => [name, field(seen, name)]))
  const guard: Guard<Stored> = { ...asked, ...same, live: true }
  if (moved.length === 0) return (await docs.update(id, guard, set)) ?? undefined
  if (seen.write !== null) await moment()
  const own: Stored = { ...seen, write: randomUUID() }
  const { write } = own
  if (!(await docs.update(id, guard, { write }))) return undefined
  if (!(await claimAll(records, next, moved, own))) {
    await undo(records, own)
    return null
  }
  const last = records.endsAnyway ? guard : { ...guard, write }
  return (await docs.update(id, last, { ...set, write: null })) ?? undefined
}

function bound<T extends Doc>(records: Records): Collection<T> {
  const { docs } = records
  function bare(doc: Stored | null): T | null {
    if (!doc?.live) return null
    const { live: _, write: __, ...rest } = doc
    return rest as unknown as T
  }
  const list = (found: readonly Stored[]): T[] => found.flatMap((doc) => bare(doc) ?? [])
  return {
    get: async (id) => bare(await docs.get(id)),
    find: async (equal, page) => list(await docs.find({ ...equal, live: true }, page)),
    insert: (doc) => settled(() => tryInsert(records, doc)),
    update: async (id, guard, set) =>
      bare(await settled(() => tryUpdate(records, id, guard as Guard<Stored>, set))),
    take: async (id, guard) => bare(await docs.take(id, { ...guard, live: true })),
    due: async (before, limit) => list(await docs.due(before, limit)),
    sweep: (before, limit) => docs.sweep(before, limit),
  }
}

/**
 * An adapter as docs/custom-store.md has it for a database whose unique values span records: its driver knows
 * guarded writes of one record, and no unique index.
 */
export function claimsAdapter({ store, ...ports }: Backend, endsAnyway = false): Backend {
  return {
    ...ports,
    store: checkedStore({
      prepare: (specs) => store.prepare(specs.flatMap((spec) => [storedOf(spec), claimsOf(spec)])),
      collection<T extends Doc>(spec: CollectionSpec<T>): Collection<T> {
        const { indexes }: AnyCollectionSpec = spec
        return bound<T>({
          docs: store.collection(storedOf(spec) as unknown as CollectionSpec<Stored>),
          claims: store.collection(claimsOf(spec)),
          unique: indexes.filter((index) => index.unique).map(({ on }) => on),
          endsAnyway,
        })
      },
    }),
  }
}
