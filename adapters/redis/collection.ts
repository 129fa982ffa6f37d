import type { Row, Shape } from '../../src/checks/shape.js'
import type { Collection, Doc, Page, SweepResult } from '../../src/ports/store.js'
import { collectionOf } from '../shared/checked-calls.js'
import type { Keys } from './keys.js'
import {
  holderOf,
  idsBetween,
  idsExpired,
  insertRow,
  readRows,
  sweepRows,
  takeRow,
  updateRow,
} from './lua.js'
import type { Run } from './script.js'
import {
  entryOf,
  guardText,
  indexesOf,
  listOf,
  type NamedIndex,
  rowOf,
  scoreOf,
  textsOf,
} from './texts.js'

/** Each call is one script, atomic by itself, except the reads of several documents, which are two. */
export function redisCollection<T extends Doc>(run: Run, shape: Shape, keys: Keys): Collection<T> {
  const indexes = indexesOf(shape)
  const names = indexes.map(({ name }) => name).join(';')
  const shared = [keys.schema, keys.expiries, keys.unique, keys.indexed]

  async function read(ids: readonly string[]): Promise<readonly Row[]> {
    if (ids.length === 0) return []
    const replies = await run(readRows, [keys.schema, ...ids.map(keys.document)], [])
    const found = ids.map((id, at) => rowOf(shape, id, repliesOf(replies)[at]))
    return found.filter((doc) => doc !== null)
  }

  return collectionOf(shape, {
    async get(id) {
      const [row] = await read([id])
      return row ?? null
    },
    async find(_, page, wanted) {
      const look = idsOf(run, keys, indexes, wanted)
      const docs: Row[] = []
      for (let rest: Page | null = page; rest !== null; ) {
        const ids = await look(rest)
        const found = await read(ids)
        // What changed since its id was found belongs to the page no more.
        docs.push(...found.filter((doc) => equals(doc, wanted)))
        rest = restOf(page, rest, ids, docs.length)
      }
      return docs
    },
    async insert(row, id) {
      const args = [names, id, scoreOf(row['expiresAt']), ...textsOf(row)]
      return Number(await run(insertRow, [...shared, keys.document(id)], args)) === 1
    },
    async update(id, conditions, changes) {
      const guarded = guardText(id, conditions)
      const score = 'expiresAt' in changes ? scoreOf(changes['expiresAt']) : ''
      const args = [names, id, guarded, score, ...textsOf(changes)]
      const reply = await run(updateRow, [...shared, keys.document(id)], args)
      return reply === null ? null : rowOf(shape, id, reply)
    },
    async take(id, conditions) {
      const guarded = guardText(id, conditions)
      const reply = await run(takeRow, [...shared, keys.document(id)], [names, id, guarded])
      return reply === null ? null : rowOf(shape, id, reply)
    },
    async due(before, limit) {
      const args = [String(before), String(limit)]
      const ids = listOf(await run(idsExpired, [keys.schema, keys.expiries], args))
      const rows = await read(ids)
      return rows.filter(({ expiresAt }) => typeof expiresAt === 'number' && expiresAt <= before)
    },
    sweep: sweepOf(run, keys, names),
  })
}

function repliesOf(replies: unknown): readonly unknown[] {
  return Array.isArray(replies) ? replies : []
}

function equals(doc: Row, wanted: Row): boolean {
  return Object.entries(doc).every(([name, value]) => !(name in wanted) || wanted[name] === value)
}

/**
 * What is still to be asked for. A page that came back short would say that nothing follows it, so
 * the places of documents that changed meanwhile are filled.
 */
function restOf(page: Page, asked: Page, ids: readonly string[], found: number): Page | null {
  const last = ids.at(-1)
  if (found >= page.limit || ids.length < asked.limit || last === undefined) return null
  return { ...page, limit: page.limit - found, after: last }
}

const mostLeft = 100_000
/** A script blocks its server, so a batch is small enough that other callers do not wait long. */
const batch = 100

/** Looks for what expired, then removes it batch by batch, each document being asked once more. */
function sweepOf(
  run: Run,
  keys: Keys,
  indexNames: string,
): (before: number, limit: number) => Promise<SweepResult> {
  const shared = [keys.schema, keys.expiries, keys.unique, keys.indexed]
  return async (before, limit) => {
    const args = [String(before), String(limit)]
    const ids = listOf(await run(idsExpired, [keys.schema, keys.expiries], args))
    let removed = 0
    let left = 0
    for (let at = 0; at < ids.length; at += batch) {
      const some = ids.slice(at, at + batch)
      const documents = some.map(keys.document)
      const names = [indexNames, String(before), ...some]
      const [gone, rest] = numbersOf(await run(sweepRows, [...shared, ...documents], names))
      removed += gone ?? 0
      left = rest ?? 0
    }
    return { removed, left: Math.min(left, mostLeft) }
  }
}

/** Clients may be set up to give integers as texts. */
function numbersOf(reply: unknown): readonly number[] {
  return Array.isArray(reply) ? reply.map(Number) : []
}

/** Ids of the documents that equal `wanted`, which has the fields of exactly one index. */
function idsOf(
  run: Run,
  keys: Keys,
  indexes: readonly NamedIndex[],
  wanted: Row,
): (page: Page) => Promise<readonly string[]> {
  const fields = Object.keys(wanted).sort().join()
  const index = indexes.find(({ on }) => on.join() === fields)
  if (!index) throw new TypeError(`redis: no index is on exactly (${fields})`)
  const entry = entryOf(index, wanted)
  return async (page) => {
    if (index.unique) {
      const ids = listOf(await run(holderOf, [keys.schema, keys.unique], [index.name, entry]))
      return ids.filter((id) => isOn(page, id))
    }
    const args = [index.name, ...rangeOf(entry, page), String(page.limit)]
    const members = listOf(await run(idsBetween, [keys.schema, keys.indexed], args))
    return members.map((member) => member.slice(entry.length + 1))
  }
}

/** All members are `entry`, NUL, id; the next character after NUL is beyond all of them. */
function rangeOf(entry: string, { after, newestFirst }: Page): readonly string[] {
  const first = `[${entry}\0`
  const last = `(${entry}\u0001`
  const next = after === undefined ? undefined : `(${entry}\0${after}`
  return newestFirst
    ? ['ZREVRANGEBYLEX', next ?? last, first]
    : ['ZRANGEBYLEX', next ?? first, last]
}

/** In the order the server has ids in: by their bytes. */
function isOn({ after, newestFirst }: Page, id: string): boolean {
  if (after === undefined) return true
  const order = Buffer.compare(Buffer.from(id), Buffer.from(after))
  return newestFirst ? order < 0 : order > 0
}
