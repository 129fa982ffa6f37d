import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { Computer } from '../../bench/harness/machine.js'
import type { ReleaseStep } from './release-steps.js'

/** What a step found when it last passed: a committed file of `tools/release/results`. */
export interface StepRecord {
  readonly step: string
  /** ISO 8601, of its end. */
  readonly date: string
  /** A short one. */
  readonly commit: string
  readonly seconds: number
  readonly machine: Computer
  readonly figures: readonly string[]
}

/** A step that has ended, whichever way. */
export interface StepRun {
  readonly step: Pick<ReleaseStep, 'name' | 'figures'>
  /** Null where it was ended by a signal. */
  readonly code: number | null
  readonly seconds: number
  readonly date: string
  /** What it printed, without colours. */
  readonly lines: readonly string[]
  /** As `commitOf` has them. */
  readonly commits: { readonly before: string; readonly after: string }
  readonly machine: Computer
}

/** Why nothing is kept of a run; null where it counts. */
function whyNot({ code, commits: { before, after } }: StepRun): string | null {
  if (code !== 0) return 'it failed'
  if (before.endsWith('+')) return 'files differ from the commit'
  if (!/^[0-9a-f]{7,40}$/.test(before)) return before
  return before === after ? null : 'files or the commit changed meanwhile'
}

/** Keeps what a run found in the place of the record before, or leaves that one. Says which, and why. */
export function keepRun(folder: URL, run: StepRun): string {
  const { step, seconds, date, lines, commits, machine } = run
  const reason = whyNot(run)
  if (reason !== null) return `not recorded: ${reason}`
  const figures = step.figures(lines)
  if (figures.length === 0) return 'not recorded: no figures were printed'
  const { name } = step
  const record: StepRecord = {
    ...{ step: name, date, commit: commits.before, seconds, machine, figures },
  }
  mkdirSync(folder, { recursive: true })
  writeFileSync(new URL(`${name}.json`, folder), `${JSON.stringify(record, null, 1)}\n`)
  return 'recorded'
}

export function storedRecords(folder: URL): readonly StepRecord[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .map((name): StepRecord => JSON.parse(readFileSync(new URL(name, folder), 'utf8')))
}
