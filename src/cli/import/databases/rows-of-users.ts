import type { Cells, SourceDatabase } from './source-database.js'

interface UserTable {
  readonly table: string
  /** The column with the id of the user. */
  readonly by: string
  /** What other columns must hold. Default: anything. */
  readonly where?: Readonly<Record<string, string>>
}

/** Rows of a table by their user; an empty list for a user without any. */
export async function rowsOfUsers(
  database: SourceDatabase,
  { table, by, where = {} }: UserTable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly Cells[]>> {
  if (ids.length === 0) return new Map()
  const places = ids.map((_, n) => database.placeholder(n + 1)).join(', ')
  const [from, user] = [database.quote(table), database.quote(by)]
  const others = Object.keys(where).map(
    (name, n) => ` and ${database.quote(name)} = ${database.placeholder(ids.length + n + 1)}`,
  )
  const rows = await database.query(
    `select * from ${from} where ${user} in (${places})${others.join('')}`,
    [...ids, ...Object.values(where)],
  )
  const found = new Map<string, Cells[]>(ids.map((id) => [id, []]))
  for (const row of rows) found.get(String(row[by]))?.push(row)
  return found
}
