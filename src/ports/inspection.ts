/** Something that a person should mend in a database. */
export interface InspectedProblem {
  /**
   * - `schema`: an index is missing or cannot be used, or something of the host's refuses writes
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

/** What `auth.diagnose()` looks at. */
export type FindingCheck =
  | 'proxy'
  | 'hosts'
  | 'keys'
  | 'database'
  | 'durability'
  | 'clock'
  | 'settings'
  | 'encryption'
  | 'hashing'
  | 'providers'

/** Something that a person should mend, or accept knowingly. */
export interface Finding {
  readonly check: FindingCheck
  /** One sentence or two. Holds no secret and no value of a secret setting. */
  readonly problem: string
  readonly remedy: string
}

/** The options of `auth.diagnose`. */
export interface DiagnosisOptions {
  /** Asks no identity provider. Default false. */
  readonly offline?: boolean
}
