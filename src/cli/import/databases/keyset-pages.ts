import { Refusal } from '../../frame/refusal.js'
import type { Cells, SourceDatabase } from './source-database.js'

export interface TableRead {
  readonly table: string
  /** A column without null in which no two rows are equal. */
  readonly key: string
  /** Null for all. */
  readonly columns: readonly string[] | null
}

export interface CellPage {
  readonly rows: readonly Cells[]
  readonly cursor: string | null
}

/** Rows of a table in the order of its key, which an index gives without sorting. */
export interface KeysetPages {
  total(): Promise<number>
  page(after: string | null, size: number): Promise<CellPage>
}

/** Throws `Refusal` where the key cannot tell the rows apart: some would be missed. */
export async function keysetPages(
  database: SourceDatabase,
  { table, key, columns }: TableRead,
): Promise<KeysetPages> {
  const from = database.quote(table)
  const by = database.quote(key)
  const [counts = {}] = await database.query(
    `select count(*) as total, count(distinct ${by}) as different from ${from}`,
  )
  const total = Number(counts['total'])
  if (Number(counts['different']) !== total) {
    throw new Refusal(
      `The column ${key} of ${table} must have a value in each row, and no value twice: name another one with --key.`,
      2,
    )
  }
  const what = columns?.map((name) => database.quote(name)).join(', ') ?? '*'

  return {
    total: async () => total,
    async page(after, size) {
      const start = after === null ? '' : `where ${by} > ${database.placeholder(1)}`
      const rows = await database.query(
        `select ${what} from ${from} ${start} order by ${by} limit ${size}`,
        after === null ? [] : [valueOfCursor(after)],
      )
      return { rows, cursor: rows.length < size ? null : cursorOf(rows.at(-1)?.[key]) }
    },
  }
}

function valueOfCursor(cursor: string): string | number {
  const value: unknown = JSON.parse(cursor)
  return typeof value === 'number' ? value : String(value)
}

/** For a time or for bytes, the driver does not always give all that the database compares. */
function cursorOf(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'string') return JSON.stringify(value)
  throw new Refusal(
    'The key must be a number, a text or a UUID: name another column with --key.',
    2,
  )
}
