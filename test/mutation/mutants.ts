import { readFileSync } from 'node:fs'

/** What one mutant came to. */
export interface Mutant {
  readonly file: string
  /** The line that it begins in, without the space around it. */
  readonly line: string
  /** From 1, for people. */
  readonly lineNumber: number
  readonly mutator: string
  /** What stands in the place of a part of the line. */
  readonly replacement: string
  readonly fate: 'killed' | 'timed out' | 'survived' | 'not covered' | 'not measured' | 'left out'
}

/** The part of Stryker's JSON report that is read here. */
interface Report {
  readonly files: Readonly<
    Record<
      string,
      {
        readonly source: string
        readonly mutants: readonly {
          readonly mutatorName: string
          readonly replacement?: string
          readonly status: string
          readonly testsCompleted?: number
          readonly location: { readonly start: { readonly line: number } }
        }[]
      }
    >
  >
}

const fates: Readonly<Record<string, Mutant['fate']>> = {
  Killed: 'killed',
  Timeout: 'timed out',
  NoCoverage: 'not covered',
  // It does not compile, or a comment takes it out: no test could tell.
  CompileError: 'left out',
  Ignored: 'left out',
}

/** A survivor that no test ran for is a mistake of the runner, and proves nothing of the tests. */
function fateOf(status: string, testsCompleted: number | undefined): Mutant['fate'] {
  if (status === 'Survived') return testsCompleted === 0 ? 'not measured' : 'survived'
  return fates[status] ?? 'not measured'
}

export function readMutants(reportFile: string): readonly Mutant[] {
  const { files }: Report = JSON.parse(readFileSync(reportFile, 'utf8'))
  return Object.entries(files).flatMap(([file, { source, mutants }]) => {
    const lines = source.split('\n')
    return mutants.map(({ mutatorName: mutator, replacement = '', status, ...rest }) => {
      const lineNumber = rest.location.start.line
      const line = (lines[lineNumber - 1] ?? '').trim()
      const fate = fateOf(status, rest.testsCompleted)
      return { file, line, lineNumber, mutator, replacement, fate }
    })
  })
}
