import { setImmediate as turn } from 'node:timers/promises'
import { always, field, judged, mapFields, type WrongAdapter, wrong } from './wrong-adapter.js'

/** An insert that remembers a key of every document for ever, and refuses it a second time. */
function refusing(
  fault: string,
  found: readonly string[],
  keyOf: (doc: object) => unknown,
): WrongAdapter {
  return wrong(fault, found, (right) => {
    const known = new Set<unknown>()
    return {
      async insert(doc) {
        const key = keyOf(doc)
        if (key !== undefined && known.has(key)) return false
        const inserted = await right.insert(doc)
        if (inserted) known.add(key)
        return inserted
      },
    }
  })
}

export const wrongWrites: readonly WrongAdapter[] = [
  wrong(
    'failures that are swallowed and answered as null',
    [
      'an empty guard rejects',
      'an empty set rejects',
      'undefined in a set rejects',
      'an inserted document must have every declared field',
      'values that are not of their kind reject',
      'json fields and bounds on text cannot be tested',
      'undeclared fields reject',
      'an id never changes and never holds NUL',
      'expiresAt is null in a `never` collection and stays in a `fixed` one',
    ],
    (right) => ({
      update: (id, guard, set) => right.update(id, guard, set).catch(() => null),
      take: (id, guard) => right.take(id, guard).catch(() => null),
      insert: (doc) => right.insert(doc).catch(() => false),
    }),
  ),
  wrong(
    'ids that only reads and inserts look at',
    ['an id never changes and never holds NUL'],
    (right) => ({
      update: async (id, guard, set) => (id.includes('\0') ? null : right.update(id, guard, set)),
      take: async (id, guard) => (id.includes('\0') ? null : right.take(id, guard)),
    }),
  ),
  wrong(
    'an insert that answers nothing',
    ['insert stores a document, which get then returns'],
    (right) => ({
      async insert(doc) {
        await right.insert(doc)
        return undefined as unknown as boolean // what a plain JavaScript adapter may do
      },
    }),
  ),
  wrong(
    'an insert that looks, then writes',
    ['of eight inserts of one id, one answers true'],
    (right) => ({
      async insert(doc) {
        if (await right.get(doc.id)) return false
        await turn()
        return (await right.insert(doc)) || true
      },
    }),
  ),
  wrong(
    'an insert that overwrites',
    ['insert on a taken id answers false and changes nothing'],
    (right) => ({
      async insert(doc) {
        await right.take(doc.id)
        return right.insert(doc)
      },
    }),
  ),
  wrong(
    'an insert that stamps the document it is given',
    ['frozen documents are accepted and left alone'],
    (right) => ({ insert: async (doc) => right.insert(Object.assign(doc, { id: doc.id })) }),
  ),
  refusing(
    'ids that are never free again',
    ['a taken id can be inserted again', 'of eight takes, one receives the document'],
    (doc) => field(doc, 'id'),
  ),
  refusing(
    'unique values that stay taken for ever',
    [
      'a unique value freed by update is free, the new one is held',
      'a unique value freed by take is free',
      'a unique value freed by sweep is free',
    ],
    (doc) => field(doc, 'email'),
  ),
  refusing(
    'unique tuples that are joined',
    ['unique tuples are compared field by field, not joined'],
    (doc) => `${field(doc, 'realm')},${field(doc, 'handle')}`,
  ),
  refusing(
    'unique values that ignore case',
    ['unique values differ by case, accent and trailing space'],
    (doc) => String(field(doc, 'email')).toLowerCase(),
  ),
  wrong(
    'text that is normalised',
    [
      'composed and decomposed text stay apart',
      'text comes back as it was given, to the last code unit',
    ],
    (right) => ({
      insert(doc) {
        return right.insert(
          mapFields(doc, (value) => {
            return typeof value === 'string' ? value.normalize('NFC') : value
          }),
        )
      },
    }),
  ),
  wrong('json whose empty lists become objects', ['json comes back deep-equal'], (right) => ({
    insert(doc) {
      return right.insert(
        mapFields(doc, (value) => {
          return Array.isArray(value) && value.length === 0 ? {} : value
        }),
      )
    },
  })),
  wrong(
    'integers held in single precision',
    ['numbers keep every digit up to ±(2^53 − 1)'],
    (right) => ({
      insert: (doc) => {
        const short = (value: unknown, name: string) => {
          return typeof value === 'number' && name !== 'expiresAt' ? Math.fround(value) : value
        }
        return right.insert(mapFields(doc, short))
      },
    }),
  ),
  wrong(
    'times held to the second',
    [
      'times keep every millisecond from 1970 to 2100',
      'every kind of read gives the same document',
    ],
    (right) => ({
      insert: (doc) => {
        const whole = (value: unknown, name: string) => {
          return name === 'bornAt' ? Math.floor(Number(value) / 1000) * 1000 : value
        }
        return right.insert(mapFields(doc, whole))
      },
    }),
  ),
  wrong(
    'empty text that becomes null',
    ['booleans, null and empty text come back as themselves', 'the empty text is not null'],
    (right) => ({
      insert: (doc) => {
        return right.insert(
          mapFields(doc, (value, name) => (name === 'team' && value === '' ? null : value)),
        )
      },
    }),
  ),
  wrong('ids that are trimmed', ['ids and unique values may hold any text'], (right) => ({
    get: (id) => right.get(id.trim()),
  })),
  wrong(
    'a take that leaves the document',
    [
      'take removes the document and returns it once',
      'a take without a guard gets the document however often it is updated',
    ],
    (right) => ({
      async take(id, guard) {
        const seen = await right.get(id)
        return seen && (!guard || judged(seen, guard)) ? seen : null
      },
    }),
  ),
  wrong(
    'a take that reads, then removes',
    [
      'of eight takes, one receives the document',
      'of an update racing a take with one guard, one wins',
    ],
    (right) => ({
      async take(id, guard) {
        const seen = await right.get(id)
        if (!seen || (guard && !judged(seen, guard))) return right.take(id, guard)
        await right.take(id)
        return seen
      },
    }),
  ),
  wrong(
    'a take that ignores its guard',
    ['a guarded take removes only while its guard holds'],
    (right) => ({ take: (id) => right.take(id) }),
  ),
]

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

export const wrongSweeps: readonly WrongAdapter[] = [
  wrong(
    'a sweep that goes by the day',
    [
      'sweep removes what expired at or before a time, never earlier',
      'a renewed document survives the sweep',
    ],
    (right) => ({
      sweep: (before, limit) => right.sweep(before - (before % 86_400_000) + 86_399_999, limit),
    }),
  ),
  wrong(
    'a sweep that knows no limit',
    ['sweep removes at most its limit and tells what is left'],
    (right) => ({ sweep: (before) => right.sweep(before, 1000) }),
  ),
  wrong(
    'a sweep that chooses, then removes without another look',
    ['of a renewal racing a sweep, one wins and the other sees it'],
    (right) => ({
      async sweep(before, limit) {
        const chosen = await right.due(before, limit)
        await turn()
        for (const { id } of chosen) await right.take(id)
        return { removed: chosen.length, left: (await right.due(before, 1000)).length }
      },
    }),
  ),
  wrong(
    'a sweep that counts what it chose, not what it removed',
    ['racing sweeps count each document once'],
    (right) => ({
      async sweep(before, limit) {
        const chosen = await right.due(before, limit)
        await turn()
        const { left } = await right.sweep(before, limit)
        return { removed: chosen.length, left }
      },
    }),
  ),
  wrong(
    'a sweep of what is due or lasts',
    ['sweep rejects where nothing may be swept'],
    (right) => ({
      sweep: (before, limit) => right.sweep(before, limit).catch(() => ({ removed: 0, left: 0 })),
    }),
  ),
]
