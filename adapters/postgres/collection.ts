import { checkExpiry, checkId, checkPage } from '../../src/checks/check-call.js'
import { checkDocument, checkEqual, checkGuard, checkSet } from '../../src/checks/check-write.js'
import type { Row } from '../../src/checks/shape.js'
import type { Collection, Doc } from '../../src/ports/store.js'
import { type Cells, isTaken, type Runs } from './client.js'
import { sweepOf } from './sweep.js'
import { rowOf, type SqlTable } from './table.js'
import { columnOf, Parameters, where, whereId } from './where.js'

/** Each call is one statement, atomic by itself; none needs more than read committed. */
export function postgresCollection<T extends Doc>(runs: Runs, table: SqlTable): Collection<T> {
  const run = runs.named
  const { shape, selectList } = table
  // The columns were declared from T's own fields, so a decoded row is a T.
  const documentOf = (cells: Cells): T => rowOf(table, cells) as T
  const first = ([cells]: readonly Cells[]): T | null => (cells ? documentOf(cells) : null)
  return {
    async get(id) {
      checkId(id, `${shape.name}.get`)
      const text = `select ${selectList} from ${table.sql} where "id" = $1::text`
      return first(await run(text, [id]))
    },
    async find(equal, page) {
      const parameters = new Parameters()
      const tests = [where(table, parameters, checkEqual(shape, equal))]
      checkPage(shape, page)
      const id = columnOf(table, 'id')
      if (page.after !== undefined) {
        const order = page.newestFirst ? '<' : '>'
        tests.push(`"id" ${order} ${parameters.bind(id, page.after)}`)
      }
      // A parameter, so that pages of every size share one prepared statement.
      const limit = parameters.bindCount(page.limit)
      const text =
        `select ${selectList} from ${table.sql} where ${tests.join(' and ')} ` +
        `order by "id" ${page.newestFirst ? 'desc' : 'asc'} limit ${limit}`
      return (await run(text, parameters.values)).map(documentOf)
    },
    async insert(doc) {
      const row = checkDocument(shape, doc)
      const columns = [...table.columns.values()].filter(({ stored }) => stored !== null)
      const parameters = new Parameters()
      const values = columns.map((column) => parameters.bind(column, row[column.name]))
      const text =
        `insert into ${table.sql} (${columns.map(({ stored }) => stored).join(', ')}) ` +
        `values (${values.join(', ')}) on conflict do nothing returning "id"`
      return (await run(text, parameters.values)).length > 0
    },
    async update(id, guard, set) {
      checkId(id, `${shape.name}.update`)
      const conditions = checkGuard(shape, guard)
      const changes = checkSet(shape, set)
      const parameters = new Parameters()
      const text =
        `update ${table.sql} set ${assignments(table, parameters, changes)} ` +
        `where ${whereId(table, parameters, id, conditions)} returning ${selectList}`
      try {
        return first(await run(text, parameters.values))
      } catch (error) {
        if (isTaken(error)) return null
        throw error
      }
    },
    async take(id, guard) {
      checkId(id, `${shape.name}.take`)
      const conditions = guard === undefined ? [] : checkGuard(shape, guard)
      const parameters = new Parameters()
      const text =
        `delete from ${table.sql} ` +
        `where ${whereId(table, parameters, id, conditions)} returning ${selectList}`
      return first(await run(text, parameters.values))
    },
    async due(before, limit) {
      checkExpiry(`${shape.name}.due`, before, limit)
      if (shape.expires === 'never') return []
      const text =
        `select ${selectList} from ${table.sql} where ${table.expired} ` +
        `order by "expires_at", "id" limit ${limit}`
      return (await runs.unnamed(text, [new Date(before).toISOString()])).map(documentOf)
    },
    sweep: sweepOf(runs.unnamed, table),
  }
}

function assignments(table: SqlTable, parameters: Parameters, changes: Row): string {
  const columns = Object.keys(changes).map((name) => columnOf(table, name))
  const stored = columns.filter((column) => column.stored !== null)
  // Only `expiresAt: null` of a `never` collection stores nothing.
  if (stored.length === 0) return '"id" = "id"'
  return stored
    .map((column) => `${column.stored} = ${parameters.bind(column, changes[column.name])}`)
    .join(', ')
}
