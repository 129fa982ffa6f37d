/** One replaced piece of a source file. */
export interface Edit {
  /** From the repository's root, such as `src/engine/refresh-rules.ts`. */
  readonly file: string
  /** Stands in the file exactly once, spaces and line breaks included. */
  readonly find: string
  readonly replace: string
}

/** A mistake that a change of the sources could make, and the tests that have to notice it. */
export interface Plant {
  /** What is wrong, in a few words. No two plants share a name. */
  readonly name: string
  readonly edits: readonly [Edit, ...Edit[]]
  /** At most three files, which pass on the sources as they are and need no server. */
  readonly tests: readonly [string, string?, string?]
}

export const testsOf = (plant: Plant): readonly string[] =>
  plant.tests.filter((file) => file !== undefined)
