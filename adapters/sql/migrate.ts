import { longestKey } from '../../src/checks/check-value.js'
import type { MigrationStep } from '../../src/ports/store.js'
import { TextTooLongError } from '../shared/text-too-long-error.js'
import { declarationOf } from './declaration-of.js'
import type { FoundSchema, NarrowDialect, SqlDialect } from './dialect.js'
import type { SqlRun } from './sql-run.js'
import { indexName, type SqlColumn, type SqlTable } from './table.js'

/** One statement that changes the schema. */
interface SchemaStep {
  /** Such as `postern_leases/table`, for messages. */
  readonly name: string
  readonly ddl: string
  /** Nothing needs it: what refuses it leaves it to the next migration. */
  readonly optional?: true
}

interface MissingSteps {
  readonly steps: readonly SchemaStep[]
  /** The tables that are there. */
  readonly has: ReadonlySet<string>
}

/**
 * The statements that these tables still need: for tables and columns that are missing, for texts that an index names
 * by now, for indexes that are missing, and for retired indexes that are there. Throws where a column is there with
 * another type, which no statement changes without risk, or with a text that is too long for its index.
 */
async function missingSteps(
  run: SqlRun,
  dialect: SqlDialect,
  tables: readonly SqlTable[],
): Promise<MissingSteps> {
  const found = await dialect.schemaOf(
    run,
    tables.map(({ bare }) => bare),
  )
  const narrowings = tables.flatMap((table) =>
    [...table.columns.values()].flatMap((column) => {
      const narrowing = narrowingOf(dialect, table, column, found)
      if (narrowing === null) refuseOtherType(dialect, table, column, found)
      return narrowing ?? []
    }),
  )
  for (const narrowing of narrowings) await refuseTooLong(run, dialect, narrowing)
  const steps = tables.flatMap((table) => {
    const columns = found.columns.filter((column) => column.table === table.bare)
    const own = [...table.columns.values()]
    const has = new Set(columns.map(({ column }) => column))
    const ofTable =
      columns.length === 0
        ? [createTable(dialect, table)]
        : own.filter(({ bare }) => !has.has(bare)).map((one) => addColumn(dialect, table, one))
    const narrowed = narrowings
      .filter((narrowing) => narrowing.table === table)
      .flatMap((narrowing) => narrowingSteps(dialect, narrowing))
    const named = found.indexes.filter((index) => index.table === table.bare)
    const indexes = indexSteps(dialect, table, new Set(named.map(({ name }) => name)))
    return [...ofTable, ...narrowed, ...indexes]
  })
  return { steps, has: new Set(found.columns.map(({ table }) => table)) }
}

function createTable(dialect: SqlDialect, table: SqlTable): SchemaStep {
  const columns = [...table.columns.values()].map((column) => declarationOf(dialect, column))
  const suffix = dialect.tableSuffix ?? ''
  return {
    name: `${table.bare}/table`,
    ddl: `create table ${table.sql} (${columns.join(', ')})${suffix}`,
  }
}

function addColumn(dialect: SqlDialect, table: SqlTable, column: SqlColumn): SchemaStep {
  return {
    name: `${table.bare}/column/${column.bare}`,
    ddl: `alter table ${table.sql} add column ${declarationOf(dialect, column)}`,
  }
}

function indexSteps(
  dialect: SqlDialect,
  table: SqlTable,
  has: ReadonlySet<string>,
): readonly SchemaStep[] {
  const { shape, sql, bare } = table
  const expiry = { on: ['expiresAt'], unique: false }
  const wanted = shape.expires === 'never' ? shape.indexes : [...shape.indexes, expiry]
  const columnsOf = (on: readonly string[]) =>
    on.map((name) => table.columns.get(name)?.sql ?? name)
  const made = wanted.map((index) => {
    const name = indexName(table, index, dialect)
    const columns = columnsOf(index.on)
    // The id last, which is the order of `find`.
    if (!index.unique) columns.push(table.id)
    const kind = index.unique ? 'unique index' : 'index'
    const ddl = `create ${kind} ${dialect.quote(name)} on ${sql} (${columns.join(', ')})`
    return { bare: name, step: { name: `${bare}/index/${name}`, ddl } }
  })
  const retired = shape.retired.map((index) => {
    const name = indexName(table, index, dialect)
    const quoted = dialect.quote(name)
    const ddl = dialect.dropIndex?.(sql, quoted) ?? `drop index ${quoted}`
    return { bare: name, step: { name: `${bare}/retired/${name}`, ddl, optional: true as const } }
  })
  return [
    ...made.filter((one) => !has.has(one.bare)),
    ...retired.filter((one) => has.has(one.bare)),
  ].map(({ step }) => step)
}

function refuseOtherType(
  dialect: SqlDialect,
  table: SqlTable,
  column: SqlColumn,
  found: FoundSchema,
): void {
  const is = found.columns.find((one) => one.table === table.bare && one.column === column.bare)
  if (is === undefined) return
  const typeName = (type: string, nullable: boolean) => (nullable ? type : `${type} not null`)
  const wanted = typeName(dialect.types[column.type], column.nullable)
  const has = typeName(is.type, is.nullable)
  if (has === wanted) return
  throw new Error(
    `${dialect.name}: ${table.sql}.${column.sql} was created as "${has}", but collection ` +
      `"${table.shape.name}" now declares "${column.name}" as "${wanted}"; give the field a new name instead`,
  )
}

/** The steps that `migrate` would take now. Changes nothing. */
export async function planOf(
  run: SqlRun,
  dialect: SqlDialect,
  tables: readonly SqlTable[],
): Promise<readonly MigrationStep[]> {
  const { steps, has } = await missingSteps(run, dialect, tables)
  return steps.map(({ name, ddl }) => {
    const [table = ''] = name.split('/')
    return { name, statement: ddl, blocks: has.has(table) ? null : 0 }
  })
}

/**
 * Creates what is missing and drops nothing but retired indexes. It asks first, so a role that may create nothing
 * starts once all is there. If replicas start together, one carries out a step and it fails at the others:
 * these look again, and go on where the step is done.
 */
export async function migrate(
  run: SqlRun,
  dialect: SqlDialect,
  tables: readonly SqlTable[],
): Promise<void> {
  const missing = async () => (await missingSteps(run, dialect, tables)).steps

  async function carryOut({ name, ddl, optional }: SchemaStep): Promise<void> {
    try {
      await run(ddl, [])
    } catch (cause) {
      if (optional || (await missing()).every((step) => step.name !== name)) return
      const why = cause instanceof Error ? cause.message : String(cause)
      throw new Error(`${dialect.name}: migration step "${name}" failed: ${why}`, { cause })
    }
  }

  for (const step of await missing()) await carryOut(step)
  // Another version may have created a table meanwhile, with fewer columns.
  for (const step of await missing()) await carryOut(step)
}

/** A column of the type `text` that is to become a `key`, because an index names it by now. */
interface Narrowing {
  readonly table: SqlTable
  readonly column: SqlColumn
  readonly narrow: NarrowDialect
}

/** The narrowing that this column needs. `null` if it needs none, or if this dialect cannot narrow columns. */
function narrowingOf(
  dialect: SqlDialect,
  table: SqlTable,
  column: SqlColumn,
  found: FoundSchema,
): Narrowing | null {
  const { types, narrow } = dialect
  const is = found.columns.find((one) => one.table === table.bare && one.column === column.bare)
  if (narrow === undefined || is === undefined || types.key === types.text) return null
  const isWider = column.type === 'key' && is.type === types.text
  return isWider && is.nullable === column.nullable ? { table, column, narrow } : null
}

/** Each of the statements may be carried out again. */
function narrowingSteps(
  dialect: SqlDialect,
  { table, column, narrow }: Narrowing,
): readonly { readonly name: string; readonly ddl: string }[] {
  const statements = narrow.statements({
    table: table.sql,
    column: column.sql,
    declare: (type) => declarationOf(dialect, column, type),
  })
  return statements.map((ddl, at) => ({
    name: `${table.bare}/narrow/${column.bare}/${at + 1}`,
    ddl,
  }))
}

/** Throws before anything is changed where a text is there that would have to be cut. */
async function refuseTooLong(
  run: SqlRun,
  dialect: SqlDialect,
  { table, column, narrow }: Narrowing,
): Promise<void> {
  const tooLong = `from ${table.sql} where ${narrow.isTooLong(column.sql)}`
  const [row] = await run(`select 1 ${tooLong} limit 1`, [])
  if (row === undefined) return
  throw new TextTooLongError(
    `${dialect.name}: ${table.sql}.${column.sql} holds a text of more than ${longestKey} UTF-16 code units, and an ` +
      `index of collection "${table.shape.name}" now names "${column.name}"; shorten these texts and migrate again: ` +
      `select ${table.id} ${tooLong}`,
  )
}
