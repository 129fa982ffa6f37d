import { rowsOfUsers } from '../databases/rows-of-users.js'
import type { Cells, SourceDatabase } from '../databases/source-database.js'

/** What a table has about some users, by a column that names them. */
export type ReadRows = (
  table: string,
  by: string,
  ids: readonly string[],
) => Promise<ReadonlyMap<string, readonly Cells[]>>

/** Reads the rows of one app alone: two apps may have the same ids. */
export function rowsOfApp(database: SourceDatabase, app: string): ReadRows {
  return (table, by, ids) =>
    rowsOfUsers(database, { table, by, where: { app_id: app } }, [...new Set(ids)])
}
