import { Refusal } from '../frame/refusal.js'
import { keysetPages } from './databases/keyset-pages.js'
import type { SourceDatabase } from './databases/source-database.js'
import type { ColumnMap } from './rows/column-map.js'
import type { Source } from './rows/import-source.js'

export interface TableOptions {
  readonly table: string
  readonly key: string
  readonly columns: ColumnMap
}

/** The rows of a table or a view. Closes the database with itself. */
export async function tableSource(
  database: SourceDatabase,
  { table, key, columns }: TableOptions,
): Promise<Source> {
  const present = await database.columns(table)
  if (present.length === 0) throw new Refusal(`There is no table ${table}.`, 2)
  if (!present.includes(key))
    throw new Refusal(`There is no column ${key} in ${table}: name one with --key.`, 2)
  columns.check(present)
  const wanted = [...new Set([key, ...columns.columns])]
  const pages = await keysetPages(database, { table, key, columns: wanted })
  return {
    fingerprint: `table ${table} of ${database.name} by ${key}`,
    total: pages.total,
    async page(after, size) {
      const { rows, cursor } = await pages.page(after, size)
      return {
        rows: rows.map((cells) => columns.toRow(String(cells[key]), (name) => cells[name])),
        cursor,
      }
    },
    close: () => database.close(),
  }
}
