import type { Run } from './client.js'
import type { SqlColumn } from './columns.js'
import { columnType } from './steps.js'
import type { SqlTable } from './table.js'

/** The declared type of each column that exists, by table and column. */
export type FoundColumns = ReadonlyMap<string, string>

export async function readColumns(run: Run, tables: readonly SqlTable[]): Promise<FoundColumns> {
  const rows = await run(
    `select "name"::text as "table", attname::text as "column", ` +
      `format_type(atttypid, atttypmod)::text as "type", attnotnull::text as "required" ` +
      `from unnest($1::text[]) as "wanted"("name") ` +
      `join pg_catalog.pg_attribute on attrelid = to_regclass("name") ` +
      `where attnum > 0 and not attisdropped`,
    [tables.map(({ sql }) => sql)],
  )
  return new Map(
    rows.map((row) => {
      const type = typeName(String(row['type']), row['required'] === 'true')
      return [`${row['table']}."${row['column']}"`, type]
    }),
  )
}

/** A column cannot be given another kind without risking what is in it, so nothing is tried. */
export function refuseOtherKinds(tables: readonly SqlTable[], found: FoundColumns): void {
  for (const { table, column, key } of wantedColumns(tables)) {
    const is = found.get(key)
    const wanted = typeName(columnType(column), !column.nullable)
    if (is !== undefined && is !== wanted) {
      throw new Error(
        `postgres: ${key} was created as "${is}", but collection "${table.shape.name}" now ` +
          `declares "${column.name}" as "${wanted}"; give the field a new name instead`,
      )
    }
  }
}

/** Refuses a column that the journal lists but that is gone, since it was dropped by hand. */
export function refuseMissing(tables: readonly SqlTable[], found: FoundColumns): void {
  for (const { key } of wantedColumns(tables)) {
    if (!found.has(key)) {
      throw new Error(`postgres: ${key} was created by a migration and is gone; restore it`)
    }
  }
}

function wantedColumns(
  tables: readonly SqlTable[],
): readonly { readonly table: SqlTable; readonly column: SqlColumn; readonly key: string }[] {
  return tables.flatMap((table) => {
    const stored = [...table.columns.values()].filter((column) => column.stored !== null)
    return stored.map((column) => {
      return { table, column, key: `${table.sql}.${column.stored}` }
    })
  })
}

function typeName(type: string, required: boolean): string {
  return required ? `${type} not null` : type
}
