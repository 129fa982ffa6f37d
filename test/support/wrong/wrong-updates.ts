import { setImmediate as turn } from 'node:timers/promises'
import { always, field, judged, mapFields, type WrongAdapter, wrong } from './wrong-adapter.js'

export const wrongUpdates: readonly WrongAdapter[] = [
  wrong(
    'an update that reads, then writes',
    [
      'of eight updates with one guard, one wins and the others answer null',
      'eight racers counting by compare-and-set reach eight',
      'a due document is claimed by one of eight racers',
    ],
    (right) => ({
      async update(id, guard, set) {
        const seen = await right.get(id)
        if (seen && !judged(seen, guard)) return null
        return right.update(id, always(id), set)
      },
    }),
  ),
  wrong(
    'an update that writes back the whole document it read',
    ['racing updates of different fields lose nothing'],
    (right) => ({
      async update(id, guard, set) {
        const seen = await right.get(id)
        if (!seen || !judged(seen, guard)) return right.update(id, guard, set)
        const { id: _, ...rest } = seen
        await right.update(id, guard, set)
        return right.update(id, always(id), { ...rest, ...set } as typeof set)
      },
    }),
  ),
  wrong(
    'an update that gives up when anything else was written meanwhile',
    ['eight updates whose guard goes on holding all succeed'],
    (right) => {
      let writes = 0
      return {
        async update(id, guard, set) {
          const before = writes
          await turn()
          if (writes !== before) return null
          writes += 1
          return right.update(id, guard, set)
        },
      }
    },
  ),
  wrong(
    'an update that ignores its guard',
    [
      'a guard on equality holds for the same value only, of every kind',
      'every field of a guard must hold',
      'of eight updates with one guard, one wins and the others answer null',
    ],
    (right) => ({ update: (id, _guard, set) => right.update(id, always(id), set) }),
  ),
  wrong(
    'an update that inserts what is missing',
    ['update of an unknown id answers null and stores nothing'],
    (right, spec) => ({
      async update(id, guard, set) {
        const updated = await right.update(id, guard, set)
        if (updated !== null || (await right.get(id))) return updated
        const empty = { text: id, integer: 0, boolean: true, time: 0, json: {} }
        const blank = mapFields<object>(spec.fields, (declared) => {
          const { kind, nullable } = declared as { kind: keyof typeof empty; nullable?: true }
          return nullable ? null : empty[kind]
        })
        await right.insert({ expiresAt: null, ...blank, ...set, id } as Parameters<
          typeof right.insert
        >[0])
        return right.get(id)
      },
    }),
  ),
  wrong(
    'an update that answers the document as it was',
    ['update answers the new document and leaves the fields it does not set'],
    (right) => ({
      async update(id, guard, set) {
        const before = await right.get(id)
        const updated = await right.update(id, guard, set)
        return updated && before
      },
    }),
  ),
  wrong('an update that leaves out null', ['update sets null and takes it back'], (right) => ({
    update(id, guard, set) {
      const kept = Object.entries(set).filter(([, value]) => value !== null)
      const some = Object.fromEntries(kept) as typeof set
      return right.update(id, guard, kept.length > 0 ? some : set)
    },
  })),
  wrong(
    "an update that answers 'taken' where a unique value is refused",
    [
      'a refused unique value answers null and changes nothing',
      'a guard that misses answers null, whatever it was to set',
      'of eight documents updated to one unique value, one wins, the others answer null',
      'of an insert and an update to one unique value, one wins',
    ],
    (right) => ({
      async update(id, guard, set) {
        const updated = await right.update(id, guard, set)
        const email = field(set, 'email')
        if (updated !== null || email === undefined) return updated
        // The answer of an earlier port, which the type does not have any more.
        const taken = 'taken' as unknown as null
        const [holder] = await right.find({ email } as object, { limit: 1 })
        return holder ? taken : null
      },
    }),
  ),
  wrong(
    'an update that sets the other fields where a unique value is refused',
    [
      'a refused unique value answers null and changes nothing',
      'of eight documents updated to one unique value, one wins, the others answer null',
    ],
    (right) => ({
      async update(id, guard, set) {
        const updated = await right.update(id, guard, set)
        const others = Object.entries(set).filter(([name]) => name !== 'email')
        const some = Object.fromEntries(others) as typeof set
        if (updated === null && others.length > 0) await right.update(id, guard, some)
        return updated
      },
    }),
  ),
  wrong(
    'an update that finds its own unique value taken',
    ['update that keeps its own unique value succeeds'],
    (right) => ({
      async update(id, guard, set) {
        const seen = await right.get(id)
        const email = field(set, 'email')
        if (seen && email !== undefined && field(seen, 'email') === email) return null
        return right.update(id, guard, set)
      },
    }),
  ),
  wrong('an update that merges json', ['json is replaced as a whole, never merged'], (right) => ({
    async update(id, guard, set) {
      const seen = await right.get(id)
      const data = field(set, 'data')
      const old = seen && field(seen, 'data')
      const plain = (one: unknown) => Object.prototype.toString.call(one) === '[object Object]'
      if (!plain(data) || !plain(old)) return right.update(id, guard, set)
      return right.update(id, guard, { ...set, data: Object.assign({}, old, data) })
    },
  })),
  wrong(
    'an update that never shortens an expiry',
    ['a document shortened by an update is swept'],
    (right) => ({
      async update(id, guard, set) {
        const seen = await right.get(id)
        const old = seen?.expiresAt ?? 0
        const next = set.expiresAt
        const longest = typeof next === 'number' ? { expiresAt: Math.max(old, next) } : {}
        return right.update(id, guard, { ...set, ...longest })
      },
    }),
  ),
]
