export type Cells = Readonly<Record<string, unknown>>

/** A database of another product, which is read and never written. */
export interface SourceDatabase {
  /** Server and database, without a password. */
  readonly name: string
  /** The name as it stands in a statement; a dot parts schema and table. */
  quote(name: string): string
  /** What stands in a statement for its nth value, from 1. */
  placeholder(n: number): string
  query(sql: string, values?: readonly unknown[]): Promise<readonly Cells[]>
  /** Names of the columns; empty where there is no such table. */
  columns(table: string): Promise<readonly string[]>
  close(): Promise<void>
}

/** Each part of a name between marks, which are doubled within. */
export function quoted(name: string, mark: string): string {
  return name
    .split('.')
    .map((part) => `${mark}${part.replaceAll(mark, mark + mark)}${mark}`)
    .join('.')
}
