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

/** As the lists hold it. Most plants are one edit, which stands in the entry itself. */
export type PlantEntry = Plant | (Edit & Pick<Plant, 'name' | 'tests'>)

export function plantOf(entry: PlantEntry): Plant {
  if ('edits' in entry) return entry
  const { name, tests, ...edit } = entry
  return { name, edits: [edit], tests }
}

export const testsOf = (plant: Plant): readonly string[] =>
  plant.tests.filter((file) => file !== undefined)

/** Whether it changes a file of a room, such as `domain/sessions`, of the sources or of the adapters. */
export const touches = ({ edits }: Plant, room: string): boolean =>
  edits.some(({ file }) => file.startsWith(`src/${room}/`) || file.startsWith(`adapters/${room}/`))

/** How often `find` stands in `source`. */
export const occurrences = (source: string, find: string): number => source.split(find).length - 1

/** `count` of them, beginning one place further along the list for each one taken the day before. */
export function sampleOf<T>(list: readonly T[], count: number, day: number): readonly T[] {
  const start = (day * count) % list.length
  return [...list, ...list].slice(start, start + Math.min(count, list.length))
}
