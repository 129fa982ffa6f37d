import { existsSync, readFileSync } from 'node:fs'

export interface TestResult {
  /** Below the repository, such as `test/engine/addresses.test.ts`. */
  readonly file: string
  /** Suites and sentence on one line, with the cells of the matrix in brackets. */
  readonly title: string
  readonly status: 'passed' | 'failed' | 'skipped'
}

/** What a run of a whole shelf leaves in `.results/<shelf>.json`. */
export interface ShelfResult {
  readonly shelf: string
  /** Whether it was the short form of the shelf. */
  readonly isShort: boolean
  /** At the start of the run. Ends in `+` when files differed from the commit. */
  readonly commit: string
  readonly seconds: number
  /** Null where the system does not tell it. */
  readonly cpuSeconds: number | null
  /** Seconds of each file. */
  readonly files: Readonly<Record<string, number>>
  /** Operations and statuses that the contract suite met, such as `clientLogin 200`. */
  readonly exercised: readonly string[]
  readonly tests: readonly TestResult[]
}

/** What the shelves say together. */
export interface Union {
  readonly commit: string
  readonly exercised: readonly string[]
  readonly tests: readonly TestResult[]
}

/** Throws where one of them says nothing, or speaks of another commit than the others. */
export function unionOf(
  shelves: readonly string[],
  read: (shelf: string) => ShelfResult | null,
): Union {
  const results = shelves.map((shelf) => {
    const result = read(shelf)
    if (result === null) throw new Error(`the shelf "${shelf}" has not been run`)
    return result
  })
  const commits = [...new Set(results.map(({ commit }) => commit))]
  const [commit] = commits
  if (commit === undefined) throw new Error('name the shelves whose results are wanted')
  if (commits.length > 1) {
    const told = results.map((result) => `${result.shelf} of ${result.commit}`).join(', ')
    throw new Error(`the shelves were run on different commits: ${told}`)
  }
  return {
    commit,
    exercised: [...new Set(results.flatMap((result) => result.exercised))],
    tests: results.flatMap((result) => result.tests),
  }
}

/** What the last run of a shelf left; null where there is none. */
export function storedResult(shelf: string): ShelfResult | null {
  const file = new URL(`../.results/${shelf}.json`, import.meta.url)
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null
}
