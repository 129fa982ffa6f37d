import { setImmediate as turn } from 'node:timers/promises'
import { field, judged, mapFields, type WrongAdapter, wrong } from './wrong-adapter.js'

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
