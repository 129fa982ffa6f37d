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
