import type { SqlRun } from './sql-run.js'

/** What the kernel stores in a column. Times are integers: epoch milliseconds. Booleans are the integers 0 and 1. */
export type SqlType = 'key' | 'text' | 'integer' | 'json'

/** A column that is in the database. */
export interface FoundColumn {
  readonly table: string
  readonly column: string
  /** As the dialect's `types` have it. */
  readonly type: string
  readonly nullable: boolean
}

/** What is in the database of the tables asked for. */
export interface FoundSchema {
  readonly columns: readonly FoundColumn[]
  readonly indexes: readonly { readonly table: string; readonly name: string }[]
}

/** The statements that find what of the host's may refuse writes of some tables. */
export interface ObstacleQueries {
  /**
   * The foreign keys that let no row go to which they refer, a row for each: the table that is referred to, the host's
   * table as a statement names it, the name of the key, and its condition, such as `theirs."user_id" = ours."id"`.
   */
  readonly keys: string
  /** The columns that are required and have no default: table and column. */
  readonly required: string
}

/** The parts of an update, each with a `?` for every value. */
export interface UpdateParts {
  readonly table: string
  /** All columns of the table, separated by commas. */
  readonly columns: string
  readonly set: string
  readonly where: string
}

/** The parts of a statement that removes some of the rows that match. */
export interface RemoveParts {
  readonly table: string
  readonly id: string
  /** Holds one `?`. */
  readonly where: string
  readonly orderBy: string
}

/** The parts of the statements that give a column another type. */
export interface NarrowParts {
  readonly table: string
  readonly column: string
  /** The column with this type, and with all else that it is declared with. */
  declare(type: string): string
}

/** How a column of the type `text` becomes a `key`. */
export interface NarrowDialect {
  /** A condition: whether the column's text is longer than 255 UTF-16 code units. */
  isTooLong(column: string): string
  /**
   * The statements that change the type, one after the other. None of them may cut a text, not even one that another
   * process writes meanwhile: it has to fail. Each may be carried out again, and after all of them.
   */
  statements(parts: NarrowParts): readonly string[]
}

/**
 * All that differs from one SQL database to another. The database must carry out each statement whole or not at
 * all, and `insert`, `update` and `delete` must be able to give rows back.
 */
export interface SqlDialect {
  /** What messages call the database, such as `sqlite`. */
  readonly name: string
  /**
   * The types of columns, as `schemaOf` gives them back.
   *
   * - `key` holds 255 UTF-16 code units of any text. It compares exactly, trailing spaces and case included, and
   *   sorts by code point
   * - `text` holds 65,535 code units and compares exactly
   * - `integer` holds every integer of up to 53 bits
   * - `json` holds a long text
   */
  readonly types: Readonly<Record<SqlType, string>>
  /** The longest name of a table or an index, in characters. */
  readonly longestName: number
  /** Stands behind the columns of `create table`. Default: nothing. */
  readonly tableSuffix?: string
  /** A name in quotes. It holds lower-case letters, digits and `_` alone. */
  quote(name: string): string
  /** A text as a literal, for the default of a column. */
  literal(text: string): string
  /** The placeholder of the value at this position, from 1. Default: `?`. */
  placeholder?(position: number): string
  /**
   * One statement that changes the row which `where` matches and answers its columns as they are afterwards, in
   * their order; no row when none matches. If several meet on a row, each sees it as the one before left it.
   */
  update(parts: UpdateParts): string
  /** Whether the values of `where` stand before those of `set` in the text of `update`. Default: false. */
  readonly updatesByWhereFirst?: true
  /** The end of an `insert` that makes these assignments where the column `id` has the value already. */
  onTaken(id: string, assignments: string): string
  /** In these assignments: what the `insert` would have put into the column. */
  incoming(column: string): string
  /**
   * One statement that removes at most `?` of the rows that match, the first by `orderBy`, and answers a row for each.
   * A row that no longer matches when its turn comes stays. Its values: those of `where`, and the number of rows.
   */
  remove(parts: RemoveParts): string
  /** Whether the values of `remove` are those of `where`, the number, and those of `where` again. Default: false. */
  readonly removesByWhereTwice?: true
  /**
   * What an error of the driver says of the statement:
   *
   * - `taken`: a unique value is taken, and nothing was written
   * - `missing`: a table or a column does not exist
   * - `undone`: the server rolled the statement back to keep others apart. It is sent again
   * - `unknown`: anything else. The call rejects; the statement may have been carried out
   */
  failure(error: unknown): 'taken' | 'missing' | 'undone' | 'unknown'
  /** What there is of these tables, a table that does not exist left out. */
  schemaOf(run: SqlRun, tables: readonly string[]): Promise<FoundSchema>
  /**
   * For `inspect`, and to tell of a deletion that would be refused. `tables` is a `?` for each table, separated by
   * commas. Default: it is not told.
   */
  obstacles?(tables: string): ObstacleQueries
  /** The statement that removes an index. Default: `drop index <index>`. */
  dropIndex?(table: string, index: string): string
  /**
   * How a column becomes a `key` that was made as a `text`, before an index named it. Default: the migration refuses the
   * column, unless both are the same type.
   */
  readonly narrow?: NarrowDialect
}
