import type { ImportedUser } from 'postern'

/** Something of a user that an import leaves behind. `reason` is a sentence, and repeats no value of the row. */
export interface NotCarried {
  readonly code: string
  readonly reason: string
}

export interface SourceRow {
  /** What the report calls the row: its line, or what the source knows it by. */
  readonly key: string
  /** Its id at the source, where that is not the key. A cell of a file may be anything, and the report has none. */
  readonly oldId?: string
  /** Null for a row of which no user can be made; `notCarried` says why. */
  readonly user: ImportedUser | null
  readonly notCarried: readonly NotCarried[]
}

export interface SourcePage {
  readonly rows: readonly SourceRow[]
  /** Where the next page starts, for a later process too; null after the last row. */
  readonly cursor: string | null
}

/** Users of another product, in an order that stays the same from run to run. */
export interface Source {
  /** What the data is, without a password: progress through other data is not gone on with. */
  readonly fingerprint: string
  /** Null where counting would cost as much as reading. */
  total(): Promise<number | null>
  /** At most `size` rows behind a cursor, or the first ones. Throws `Refusal` for data of another form. */
  page(after: string | null, size: number): Promise<SourcePage>
  close(): Promise<void>
}
