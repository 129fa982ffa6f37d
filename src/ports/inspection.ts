/** Something that a person should mend in a database. */
export interface InspectedProblem {
  /**
   * - `schema`: an index is missing or cannot be used
   * - `durability`: the server may forget what it acknowledged
   */
  readonly kind: 'schema' | 'durability'
  /** A sentence without a value that is stored. */
  readonly problem: string
  /** The remedy, as a sentence. */
  readonly remedy: string
}

/** What a database tells of itself. */
export interface Inspection {
  /** The kind of database, such as `postgres`. */
  readonly name: string
  /** Epoch milliseconds by the database's own clock; null where it has none. */
  readonly now: number | null
  readonly problems: readonly InspectedProblem[]
}
