import type { Cells, SourceDatabase } from './source-database.js'

interface UserTable {
  readonly table: string
  /** The column with the id of the user. */
  readonly by: string
}

/** Rows of a table by their user; an empty list for a user without any. */
export async function rowsOfUsers(
  database: SourceDatabase,
  { table, by }: UserTable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly Cells[]>> {
  if (ids.length === 0) return new Map()
  const places = ids.map((_, n) => database.placeholder(n + 1)).join(', ')
  const [from, user] = [database.quote(table), database.quote(by)]
  const rows = await database.query(`select * from ${from} where ${user} in (${places})`, ids)
  const found = new Map<string, Cells[]>(ids.map((id) => [id, []]))
  for (const row of rows) found.get(String(row[by]))?.push(row)
  return found
}
