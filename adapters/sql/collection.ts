import type { Condition } from '../../src/checks/check-write.js'
import type { Row } from '../../src/checks/shape.js'
import type { Collection, Doc, Page } from '../../src/ports/store.js'
import { collectionOf } from '../shared/checked-calls.js'
import { asksForNull, formOf } from '../shared/form-of.js'
import { madeOnce } from '../shared/made-once.js'
import type { SqlDialect } from './dialect.js'
import type { SqlRow, SqlRun, SqlValue } from './sql-run.js'
import { sweepOf } from './sweep.js'
import { columnOf, type SqlTable } from './table.js'
import { documentOf, encoded } from './values.js'

/** What SQLite takes in one statement, which is less than what servers take. */
const mostValues = 32_766

/** Each call is one statement, atomic by itself; a sweep is one and a count. */
export function sqlCollection<T extends Doc>(
  run: SqlRun,
  dialect: SqlDialect,
  table: SqlTable,
): Collection<T> {
  const { shape, sql, list, id: idColumn, expiresAt } = table
  const columns = [...table.columns.values()]
  const textOf = madeOnce<string>()
  const read = (row: SqlRow) => documentOf(table, row)
  const first = ([row]: readonly SqlRow[]) => (row ? read(row) : null)
  const places = `(${columns.map(() => '?').join(', ')})`
  const insertText = `insert into ${sql} (${list}) values ${places}`

  /** Null where a unique value is taken, and so nothing was written. */
  async function unlessTaken(
    text: string,
    values: Parameters<SqlRun>[1],
  ): Promise<readonly SqlRow[] | null> {
    try {
      return await run(text, values)
    } catch (error) {
      if (dialect.failure(error) === 'taken') return null
      throw error
    }
  }

  function findText(conditions: readonly Condition[], { after, newestFirst }: Page): string {
    const [order, beyond] = newestFirst ? ['desc', '<'] : ['asc', '>']
    const tests = [...testsOf(table, conditions)]
    if (after !== undefined) tests.push(`${idColumn} ${beyond} ?`)
    return `select ${list} from ${sql} where ${tests.join(' and ')} order by ${idColumn} ${order} limit ?`
  }

  const whereText = (conditions: readonly Condition[]): string =>
    [`${idColumn} = ?`, ...testsOf(table, conditions)].join(' and ')

  const setText = (names: readonly string[]) =>
    names.map((name) => `${columnOf(table, name).sql} = ?`).join(', ')

  function updateText(conditions: readonly Condition[], names: readonly string[]): string {
    const where = whereText(conditions)
    return dialect.update({ table: sql, columns: list, set: setText(names), where })
  }

  function updateValues(where: readonly SqlValue[], names: readonly string[], changes: Row) {
    const changed = names.map((name) => encoded(columnOf(table, name), changes[name]))
    return dialect.updatesByWhereFirst ? [...where, ...changed] : [...changed, ...where]
  }

  /** One statement. Where a value of it is taken, nothing was written, and each half goes for itself. */
  async function insertAll(rows: readonly Row[]): Promise<readonly boolean[]> {
    const text = `insert into ${sql} (${list}) values ${rows.map(() => places).join(', ')}`
    const values = rows.flatMap((row) => columns.map((one) => encoded(one, row[one.name])))
    const fits = values.length <= mostValues
    if (fits && (await unlessTaken(text, values)) !== null) return rows.map(() => true)
    if (rows.length === 1) return [false]
    const half = Math.ceil(rows.length / 2)
    const first = await insertAll(rows.slice(0, half))
    return [...first, ...(await insertAll(rows.slice(half)))]
  }

  return collectionOf(shape, {
    async get(id) {
      return first(await run(`select ${list} from ${sql} where ${idColumn} = ?`, [id]))
    },
    async find(conditions, page) {
      const { after, newestFirst, limit } = page
      const form = `${newestFirst ? '<' : '>'}${after === undefined ? '' : 'after'}${formOf(conditions)}`
      const text = textOf(`find ${form}`, () => findText(conditions, page))
      const start = after === undefined ? [] : [after]
      return (await run(text, [...valuesOf(conditions), ...start, limit])).map(read)
    },
    async insert(row) {
      const values = columns.map((column) => encoded(column, row[column.name]))
      return (await unlessTaken(insertText, values)) !== null
    },
    async update(id, conditions, changes) {
      const names = Object.keys(changes)
      const form = `${names.join()}${formOfTests(conditions)}`
      const text = textOf(`update ${form}`, () => updateText(conditions, names))
      const values = updateValues([id, ...valuesOf(conditions)], names, changes)
      const rows = await unlessTaken(text, values)
      return rows === null ? null : first(rows)
    },
    async take(id, conditions) {
      const text = `delete from ${sql} where ${whereText(conditions)} returning ${list}`
      return first(await run(text, [id, ...valuesOf(conditions)]))
    },
    async due(before, limit) {
      const text = `select ${list} from ${sql} where ${expiresAt} <= ? order by ${expiresAt}, ${idColumn} limit ?`
      return (await run(text, [before, limit])).map(read)
    },
    sweep: sweepOf(run, dialect, table),
    many: {
      async find(conditions) {
        const tests = testsOf(table, conditions).join(' and ')
        const text = `select ${list} from ${sql} where ${tests}`
        return (await run(text, valuesOf(conditions))).map(read)
      },
      insert: insertAll,
      async update(conditions, changes) {
        const names = Object.keys(changes)
        const set = setText(names)
        const where = testsOf(table, conditions).join(' and ')
        const text = dialect.update({ table: sql, columns: list, set, where })
        return (await run(text, updateValues(valuesOf(conditions), names, changes))).map(read)
      },
    },
  })
}

/** `formOf`, with the number of values of a list: each has a placeholder of its own. */
function formOfTests(conditions: readonly Condition[]): string {
  const counts = conditions.map((one) => (one.form === 'in' ? one.values.length : ''))
  return `${formOf(conditions)} ${counts.join()}`
}

/** The tests of some conditions, each with a `?` for every value of `valuesOf`. */
function testsOf(table: SqlTable, conditions: readonly Condition[]): readonly string[] {
  return conditions.map((condition) => testOf(table, condition))
}

/** `= ?` or `is null`, by the value: what serves both in one is written differently in each database. */
function testOf(table: SqlTable, condition: Condition): string {
  const { sql } = columnOf(table, condition.column.name)
  const isNull = `${sql} is null`
  switch (condition.form) {
    case 'equals':
      return condition.value === null ? isNull : `${sql} = ?`
    case 'in': {
      const solid = condition.values.filter((value) => value !== null)
      const isOneOf = solid.length > 0 ? `${sql} in (${solid.map(() => '?').join(', ')})` : '1 = 0'
      return asksForNull(condition) ? `(${isOneOf} or ${isNull})` : isOneOf
    }
    case 'gt':
      return `${sql} > ?`
    case 'lte':
      return `${sql} <= ?`
  }
}

/** The values that these conditions compare with, in the order of their `?`. */
function valuesOf(conditions: readonly Condition[]): SqlValue[] {
  return conditions.flatMap((condition) => {
    const { column } = condition
    if (condition.form === 'in') {
      return condition.values.filter((value) => value !== null).map((one) => encoded(column, one))
    }
    if (condition.form !== 'equals') return [encoded(column, condition.bound)]
    return condition.value === null ? [] : [encoded(column, condition.value)]
  })
}
