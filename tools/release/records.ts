import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type Computer, computerText } from '../../bench/harness/machine.js'
import { markdownTable } from '../../bench/harness/text-table.js'
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
  /** The last line that it printed. */
  readonly figures: readonly string[]
}

/** A step that has ended, whichever way. */
export interface StepRun {
  readonly step: Pick<ReleaseStep, 'name'>
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

const results = new URL('results/', import.meta.url)

/** Keeps what a run found in the place of the record before, or leaves that one. Says which, and why. */
export function keepRun(run: StepRun, folder = results): string {
  const { step, seconds, date, lines, commits, machine } = run
  const reason = whyNot(run)
  if (reason !== null) return `not recorded: ${reason}`
  const figures = lines.filter((line) => line.trim() !== '').slice(-1)
  if (figures.length === 0) return 'not recorded: it printed nothing'
  const { name } = step
  const { before: commit } = commits
  const record: StepRecord = { step: name, date, commit, seconds, machine, figures }
  mkdirSync(folder, { recursive: true })
  writeFileSync(new URL(`${name}.json`, folder), `${JSON.stringify(record, null, 1)}\n`)
  return 'recorded'
}

export function storedRecords(folder = results): readonly StepRecord[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .map((name): StepRecord => JSON.parse(readFileSync(new URL(name, folder), 'utf8')))
}

const introduction = `# Long runs

Some checks take too long for every change: the longest needs an hour and a half. \`npm run test:all\` makes most of them in short.
Before a release, \`npm run release-check\` runs all of them in full, one after the other, which takes most of a day.
\`npm run release-check -- planted\` runs one of them, by its name in the table.

That command writes this page, from the last line that each run printed. A row is about the last run that passed. It names the
commit that the run was made on, without any other change, and the day, the machine and the minutes. A run that failed
changes nothing here. A row may be older than the code: the runs are made again for each release.

"Not run yet" means that this command has not recorded the run. Where such a check was made by itself, its page has the
figures and their commits: [reliability](reliability.md), [performance](performance.md).

A planted mistake is one that the run itself puts into a copy of the code. If no test notices the mistake, the run
fails.

`

const head = ['run', 'what it shows', 'what was measured', 'commit', 'day', 'machine', 'minutes']

type Step = Pick<ReleaseStep, 'name' | 'shows' | 'page'>

/** The whole page, with a row for each of `steps`, in their order. */
export function assurancePage(records: readonly StepRecord[], steps: readonly Step[]): string {
  const rows = steps.map((step) => {
    const record = records.find(({ step: name }) => name === step.name)
    return [`\`${step.name}\``, step.shows, ...(record ? cellsOf(record, step) : unknown)]
  })
  return `${introduction}${markdownTable(head, rows)}\n`
}

const unknown = ['not run yet', '–', '–', '–', '–']

function cellsOf(record: StepRecord, { page }: Step): readonly string[] {
  const { figures, commit, date, machine, seconds } = record
  const more = page === null ? [] : [`[all figures](${page})`]
  return [
    [...figures, ...more].join('; '),
    `\`${commit}\``,
    date.slice(0, 10),
    `${computerText(machine)}, Node ${machine.node}`,
    seconds < 60 ? 'less than 1' : String(Math.round(seconds / 60)),
  ]
}
