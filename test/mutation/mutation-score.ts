import type { Equivalent } from './equivalents.js'
import type { Mutant } from './mutants.js'

export interface Score {
  readonly all: number
  /** Noticed by a test, or by a test that did not end. */
  readonly noticed: number
  /** Of all, in percent. What is not covered counts as not noticed. */
  readonly percent: number
  /** Of those that were noticed, in percent. */
  readonly timedOutPercent: number
}

const percentOf = (part: number, all: number): number => (all === 0 ? 100 : (100 * part) / all)

export function scoreOf(mutants: readonly Mutant[]): Score {
  const count = (...fates: readonly Mutant['fate'][]) =>
    mutants.filter(({ fate }) => fates.includes(fate)).length
  const all = mutants.length - count('left out')
  const noticed = count('killed', 'timed out')
  const timedOutPercent = noticed === 0 ? 0 : percentOf(count('timed out'), noticed)
  return { all, noticed, percent: percentOf(noticed, all), timedOutPercent }
}

const isMeant = (mutant: Mutant, { file, line, replacement }: Equivalent): boolean =>
  mutant.file === file && mutant.line === line && mutant.replacement === replacement

/** Those that no test noticed, and of which no line says why. */
export function unexplained(
  mutants: readonly Mutant[],
  equivalents: readonly Equivalent[],
): readonly Mutant[] {
  const open: readonly Mutant['fate'][] = ['survived', 'not covered', 'not measured']
  return mutants.filter(
    (mutant) => open.includes(mutant.fate) && !equivalents.some((one) => isMeant(mutant, one)),
  )
}

/** Explanations of files that were mutated, of a mutant that a test notices by now or that is no more. */
export function outdated(
  mutants: readonly Mutant[],
  equivalents: readonly Equivalent[],
): readonly Equivalent[] {
  const files = new Set(mutants.map(({ file }) => file))
  return equivalents.filter(
    (one) =>
      files.has(one.file) &&
      // A value for what is never missing stands in code that no test reaches.
      !mutants.some(
        (mutant) => ['survived', 'not covered'].includes(mutant.fate) && isMeant(mutant, one),
      ),
  )
}
