import type { Condition } from '../../src/checks/check-write.js'
import type { Row } from '../../src/checks/shape.js'
import type { Collection, Doc, Page } from '../../src/ports/store.js'
import { collectionOf } from '../shared/checked-calls.js'
import { formOf } from '../shared/form-of.js'
import { madeOnce } from '../shared/made-once.js'
import { type Cells, isTaken, type Run, type Runs } from './client.js'
import { encoded, readBack, type SqlColumn, sqlTypes } from './columns.js'
import { type RowReader, rowReader } from './row-reader.js'
import { sweepOf } from './sweep.js'
import type { SqlTable } from './table.js'
import { columnOf, Placeholders, testsOf, valuesOf, whereId } from './where.js'

/** Each call is one statement, atomic by itself; none needs more than read committed. */
export function postgresCollection<T extends Doc>(runs: Runs, table: SqlTable): Collection<T> {
  const run = runs.named
  const { shape, reader } = table
  const texts = collectionTexts(table)
  const stored = [...table.columns.values()].filter((column) => column.stored !== null)
  const read = (cells: Cells) => reader.read(cells)
  const first = ([cells]: readonly Cells[]): Row | null => (cells ? read(cells) : null)
  return collectionOf(shape, {
    get: async (id) => first(await run(texts.get, [id])),
    async find(conditions, page) {
      const values = valuesOf(table, conditions)
      if (page.after !== undefined) values.push(page.after)
      values.push(String(page.limit))
      return (await run(texts.find(conditions, page), values)).map(read)
    },
    async insert(row) {
      const values = stored.map((column) => encoded(column, row[column.name]))
      return (await run(texts.insert, values)).length > 0
    },
    async update(id, conditions, changes) {
      const names = Object.keys(changes)
      const { text, unchanged, changed } = texts.update(conditions, names)
      const sent = changed.map((column) => encoded(column, changes[column.name]))
      try {
        const [cells] = await run(text, [...sent, id, ...valuesOf(table, conditions)])
        if (!cells) return null
        const document = unchanged.read(cells)
        changed.forEach((column, at) => {
          document[column.name] = readBack(column, sent[at])
        })
        return document
      } catch (error) {
        if (isTaken(error)) return null
        throw error
      }
    },
    async take(id, conditions) {
      return first(await run(texts.take(conditions), [id, ...valuesOf(table, conditions)]))
    },
    async due(before, limit) {
      const text =
        `select ${reader.list} from ${table.sql} where ${table.expired} ` +
        `order by "expires_at", "id" limit ${limit}`
      return (await runs.unnamed(text, [new Date(before).toISOString()])).map(read)
    },
    sweep: sweepOf(runs.unnamed, table),
    many: manyOf(runs.unnamed, table, stored),
  })
}

/** One statement each. Imports run seldom, and no connection keeps a plan for them. */
function manyOf(run: Run, table: SqlTable, stored: readonly SqlColumn[]) {
  const { sql, reader } = table
  const names = stored.map((column) => column.stored).join(', ')
  const casts = stored.map(({ kind }, at) => `c${at}::${sqlTypes[kind]}`).join(', ')
  const lists = stored.map((_, at) => `$${at + 1}::text[]`).join(', ')
  const places = stored.map((_, at) => `c${at}`).join(', ')
  const insertText =
    `insert into ${sql} (${names}) select ${casts} from unnest(${lists}) as given(${places}) ` +
    `on conflict do nothing returning "id"`
  return {
    async find(conditions: readonly Condition[]) {
      const tests = testsOf(table, new Placeholders(), conditions)
      const text = `select ${reader.list} from ${sql} where ${tests.join(' and ')}`
      return (await run(text, valuesOf(table, conditions))).map((cells) => reader.read(cells))
    },
    async insert(rows: readonly Row[]) {
      const values = stored.map((column) => rows.map((row) => asText(column, row[column.name])))
      const inserted = new Set((await run(insertText, values)).map((cells) => cells['id']))
      return rows.map((row) => inserted.has(row['id']))
    },
    async update(conditions: readonly Condition[], changes: Row) {
      const placeholders = new Placeholders()
      const changed = Object.keys(changes).map((name) => columnOf(table, name))
      const kept = changed.filter((column) => column.stored !== null)
      const set = assignments(placeholders, kept)
      const tests = testsOf(table, placeholders, conditions).join(' and ')
      const text = `update ${sql} set ${set} where ${tests} returning ${reader.list}`
      const sent = kept.map((column) => encoded(column, changes[column.name]))
      const rows = await run(text, [...sent, ...valuesOf(table, conditions)])
      return rows.map((cells) => reader.read(cells))
    },
  }
}

function asText(column: SqlColumn, value: unknown): string | null {
  const sent = encoded(column, value)
  return sent === null ? null : String(sent)
}

export interface UpdateText {
  /** Its values: those of `changed`, the id, and those of the conditions. */
  readonly text: string
  /** Reads what the statement gives back: all that it did not set. */
  readonly unchanged: RowReader
  /** The columns that it sets. */
  readonly changed: readonly SqlColumn[]
}

/** The texts of a collection's calls. Those of one form are one and the same. */
export interface CollectionTexts {
  /** Its value: the id. */
  readonly get: string
  /** Its values: all that is stored, in the order of the columns. */
  readonly insert: string
  /** Its values: those of the conditions, the id to start after where there is one, and the limit. */
  find(conditions: readonly Condition[], page: Page): string
  update(conditions: readonly Condition[], changed: readonly string[]): UpdateText
  /** Its values: the id, and those of the conditions. */
  take(conditions: readonly Condition[]): string
}

function collectionTexts(table: SqlTable): CollectionTexts {
  const select = `select ${table.reader.list} from ${table.sql} where`
  const findText = madeOnce<string>()
  const updateText = madeOnce<UpdateText>()
  const takeText = madeOnce<string>()

  function findBy(conditions: readonly Condition[], { after, newestFirst }: Page): string {
    const placeholders = new Placeholders()
    const tests = [...testsOf(table, placeholders, conditions)]
    if (after !== undefined) {
      tests.push(`"id" ${newestFirst ? '<' : '>'} ${placeholders.next('text')}`)
    }
    // A parameter, so that pages of every size share one prepared statement.
    const limit = placeholders.next('bigint')
    const order = newestFirst ? 'desc' : 'asc'
    return `${select} ${tests.join(' and ')} order by "id" ${order} limit ${limit}`
  }

  function updateOf(conditions: readonly Condition[], names: readonly string[]): UpdateText {
    const placeholders = new Placeholders()
    const changed = names
      .map((name) => columnOf(table, name))
      .filter((column) => column.stored !== null)
    // The caller knows the values that it sets, and some are large: the statement returns the others alone.
    const rest = [...table.columns.values()].filter((column) => !changed.includes(column))
    const unchanged = rowReader(rest)
    const text =
      `update ${table.sql} set ${assignments(placeholders, changed)} ` +
      `where ${whereId(table, placeholders, conditions)} returning ${unchanged.list}`
    return { text, unchanged, changed }
  }

  return {
    get: `${select} "id" = $1::text`,
    insert: insertOf(table),
    find(conditions, page) {
      const order = page.newestFirst ? '<' : '>'
      const from = page.after === undefined ? '' : 'after'
      return findText(`${order}${from}${formOf(conditions)}`, () => findBy(conditions, page))
    },
    update: (conditions, names) =>
      updateText(`${names.join()}${formOf(conditions)}`, () => updateOf(conditions, names)),
    take: (conditions) =>
      takeText(formOf(conditions), () => {
        const tests = whereId(table, new Placeholders(), conditions)
        return `delete from ${table.sql} where ${tests} returning ${table.reader.list}`
      }),
  }
}

function insertOf(table: SqlTable): string {
  const placeholders = new Placeholders()
  const columns = [...table.columns.values()].filter(({ stored }) => stored !== null)
  const values = columns.map((column) => placeholders.of(column))
  return (
    `insert into ${table.sql} (${columns.map(({ stored }) => stored).join(', ')}) ` +
    `values (${values.join(', ')}) on conflict do nothing returning "id"`
  )
}

function assignments(placeholders: Placeholders, changed: readonly SqlColumn[]): string {
  // Only `expiresAt: null` of a `never` collection stores nothing.
  if (changed.length === 0) return '"id" = "id"'
  return changed.map((column) => `${column.stored} = ${placeholders.of(column)}`).join(', ')
}
