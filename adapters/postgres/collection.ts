import { checkExpiry, checkId, checkPage } from '../../src/checks/check-call.js'
import { checkDocument, checkEqual, checkGuard, checkSet } from '../../src/checks/check-write.js'
import type { Collection, Doc } from '../../src/ports/store.js'
import { type Cells, isTaken, type Runs } from './client.js'
import { collectionTexts } from './collection-texts.js'
import { encoded, readBack } from './columns.js'
import { sweepOf } from './sweep.js'
import type { SqlTable } from './table.js'
import { valuesOf } from './where.js'

/** Each call is one statement, atomic by itself; none needs more than read committed. */
export function postgresCollection<T extends Doc>(runs: Runs, table: SqlTable): Collection<T> {
  const run = runs.named
  const { shape, reader } = table
  const texts = collectionTexts(table)
  const stored = [...table.columns.values()].filter((column) => column.stored !== null)
  // The columns were declared from T's own fields, so a row that was read is a T.
  const documentOf = (cells: Cells): T => reader.read(cells) as unknown as T
  const first = ([cells]: readonly Cells[]): T | null => (cells ? documentOf(cells) : null)
  return {
    async get(id) {
      checkId(id, `${shape.name}.get`)
      return first(await run(texts.get, [id]))
    },
    async find(equal, page) {
      const conditions = checkEqual(shape, equal)
      checkPage(shape, page)
      const values = valuesOf(table, conditions)
      if (page.after !== undefined) values.push(page.after)
      values.push(String(page.limit))
      return (await run(texts.find(conditions, page), values)).map(documentOf)
    },
    async insert(doc) {
      const row = checkDocument(shape, doc)
      const values = stored.map((column) => encoded(column, row[column.name]))
      return (await run(texts.insert, values)).length > 0
    },
    async update(id, guard, set) {
      checkId(id, `${shape.name}.update`)
      const conditions = checkGuard(shape, guard)
      const changes = checkSet(shape, set)
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
        return document as unknown as T
      } catch (error) {
        if (isTaken(error)) return null
        throw error
      }
    },
    async take(id, guard) {
      checkId(id, `${shape.name}.take`)
      const conditions = guard === undefined ? [] : checkGuard(shape, guard)
      return first(await run(texts.take(conditions), [id, ...valuesOf(table, conditions)]))
    },
    async due(before, limit) {
      checkExpiry(`${shape.name}.due`, before, limit)
      if (shape.expires === 'never') return []
      const text =
        `select ${reader.list} from ${table.sql} where ${table.expired} ` +
        `order by "expires_at", "id" limit ${limit}`
      return (await runs.unnamed(text, [new Date(before).toISOString()])).map(documentOf)
    },
    sweep: sweepOf(runs.unnamed, table),
  }
}
