import type { Index } from '../../src/checks/shape.js'
import { snakeCase } from '../shared/snake-case.js'
import { literal, type SqlColumn, sqlTypes } from './columns.js'
import { dayColumn, dayOf, indexName, inSchemaOf, type SqlTable } from './table.js'

/** One change of the schema. It is carried out once and its names are kept in the journal. */
export interface Step {
  readonly name: string
  /** Further steps that are done with this one: those of the columns a new table starts with. */
  readonly covers: readonly string[]
  readonly ddl: string
  /** Nothing needs it: it waits for no lock, and what refuses it leaves it to the next migration. */
  readonly optional?: true
}

/** A step that makes an index. */
export interface IndexStep extends Step {
  /** The quoted name of the index. */
  readonly index: string
}

interface ColumnStep {
  readonly name: string
  readonly declaration: string
}

export function tableStep(table: SqlTable): Step {
  const columns = columnDeclarations(table)
  return {
    name: `${table.bareName}/table`,
    covers: [...columns, ...retiredSteps(table)].map(({ name }) => name),
    ddl: `create ${persistence(table)}table ${table.sql} (${columns.map(({ declaration }) => declaration).join(', ')})${room(table)}`,
  }
}

/**
 * Every request counts something and should not wait for a disk, so the counters are unlogged: after
 * a crash of the server they start at zero. All other tables are logged.
 */
function persistence({ shape }: SqlTable): string {
  return shape.name === 'postern_counters' ? 'unlogged ' : ''
}

/**
 * Rows that most of their updates renew get room for their next version in the same page. Without it, the
 * first renewal of a row may go to another page and write each index of the table again.
 */
function room({ shape }: SqlTable): string {
  const isRenewed = shape.expires === 'sliding' || shape.name === 'postern_counters'
  return isRenewed ? ' with (fillfactor = 80)' : ''
}

/** For a table that is older than some of its columns. */
export function columnSteps(table: SqlTable): readonly Step[] {
  return columnDeclarations(table).map(({ name, declaration }) => {
    return { name, covers: [], ddl: `alter table ${table.sql} add column ${declaration}` }
  })
}

export function indexSteps(table: SqlTable): readonly IndexStep[] {
  const steps = table.shape.indexes.map((index): IndexStep => {
    const { on, unique } = index
    const columns = on.map(snakeCase)
    const name = nameOf(table, index)
    const quoted = columns.map((column) => `"${column}"`)
    const kind = unique ? 'unique' : 'index'
    return {
      name: `${table.bareName}/${kind}/${columns.join()}`,
      index: name,
      covers: [],
      ddl: unique
        ? `create unique index ${name} on ${table.sql} (${quoted.join(', ')})`
        : `create index ${name} on ${table.sql} (${[...quoted, '"id"'].join(', ')})`,
    }
  })
  return [...steps, ...expirySteps(table)]
}

/**
 * Drops what earlier versions indexed. Their replicas may be at work still, and find by another index
 * what they found by this one.
 */
export function retiredSteps(table: SqlTable): readonly Step[] {
  return table.shape.retired.map((index) => {
    return {
      name: `${table.bareName}/retired/${index.on.map(snakeCase).join()}`,
      covers: [],
      ddl: `drop index if exists ${inSchemaOf(table, nameOf(table, index))}`,
      optional: true,
    }
  })
}

function nameOf(table: SqlTable, { on, unique }: Index): string {
  return indexName(table, [...on.map(snakeCase), unique ? 'key' : 'idx'])
}

function expirySteps(table: SqlTable): readonly IndexStep[] {
  if (table.shape.expires === 'never') return []
  const column = table.expiryColumn
  const name = column.slice(1, -1).replace(/^_/, '')
  const index = indexName(table, [name, 'idx'])
  return [
    {
      name: `${table.bareName}/expiry/${name}`,
      index,
      covers: [],
      ddl: `create index ${index} on ${table.sql} (${column})`,
    },
  ]
}

function columnDeclarations(table: SqlTable): readonly ColumnStep[] {
  const stepName = (column: string) => `${table.bareName}/column/${column}`
  const stored = [...table.columns.values()].filter((column) => column.stored !== null)
  const declared = stored.map((column) => {
    return { name: stepName(snakeCase(column.name)), declaration: declarationOf(table, column) }
  })
  if (table.shape.expires !== 'sliding') return declared
  const day = `${dayColumn} date generated always as (${dayOf('"expires_at"')}) stored`
  return [...declared, { name: stepName('_expires_day'), declaration: day }]
}

function declarationOf(table: SqlTable, column: SqlColumn): string {
  const parts = [column.stored, columnType(column)]
  if (column.kind === 'text' && isCompared(table, column)) parts.push('collate "C"')
  if (!column.nullable) parts.push('not null')
  if (column.name === 'id') parts.push('primary key')
  if (column.default !== undefined && column.default !== null) {
    parts.push(`default ${literal(column, column.default)}`)
  }
  return parts.join(' ')
}

/** As `format_type` of Postgres has it, given the same type back. */
export function columnType({ kind }: SqlColumn): string {
  return kind === 'time' ? 'timestamp(3) with time zone' : sqlTypes[kind]
}

/**
 * Ids page in code-unit order, which only "C" sorts by; and an index sorted by "C" cannot be
 * spoilt by an operating system's update of its locale data.
 */
function isCompared(table: SqlTable, { name }: SqlColumn): boolean {
  return name === 'id' || table.shape.indexes.some(({ on }) => on.includes(name))
}
