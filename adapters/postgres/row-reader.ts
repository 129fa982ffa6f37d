import type { Cells } from './client.js'
import type { SqlColumn } from './columns.js'

/** How some columns of a row are asked for and read. */
export interface RowReader {
  /** The select list. */
  readonly list: string
  /** The values by field name. */
  read(cells: Cells): Record<string, unknown>
}

// What a function of Postgres takes.
const mostValues = 100

/**
 * A row comes as one text, the JSON of its values: clients describe, look up and convert every column of
 * a result at each call, which costs several times what it takes to parse this. And it is the same from every
 * client, whatever parsers for bigint, timestamptz or jsonb the host registered globally.
 */
export function rowReader(columns: readonly SqlColumn[]): RowReader {
  const stored = columns.filter((column) => column.stored !== null)
  if (stored.length > mostValues) {
    throw new TypeError(`postgres: a collection may have ${mostValues} fields, "id" included`)
  }
  const places = columns.map(({ name, stored: sql }) => {
    return { name, at: sql === null ? -1 : stored.findIndex((column) => column.name === name) }
  })
  return {
    list: `json_build_array(${stored.map(itemOf).join(', ')})::text as "row"`,
    read({ row }) {
      if (typeof row !== 'string') {
        throw new TypeError('postgres: the client must give text back as strings')
      }
      const values: readonly unknown[] = JSON.parse(row)
      const read: Record<string, unknown> = {}
      for (const { name, at } of places) read[name] = at < 0 ? null : values[at]
      return read
    },
  }
}

/** Times as epoch milliseconds: a double holds those of the years 1 to 9999 exactly, once they are rounded. */
function itemOf({ kind, sql }: SqlColumn): string {
  return kind === 'time' ? `(date_part('epoch', ${sql}) * 1000)::bigint` : sql
}
