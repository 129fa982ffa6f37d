import { computerText } from '../../bench/harness/machine.js'
import { markdownTable } from '../../bench/harness/text-table.js'
import type { ReleaseStep } from './release-steps.js'
import type { StepRecord } from './step-records.js'

const introduction = `# Long runs

Some checks take too long for every change: the longest needs an hour and a half. \`npm test\` makes most of them in short.
Before a release, \`npm run release-check\` runs all of them in full, one after the other, which takes most of a day.
\`npm run release-check -- planted\` runs one of them, by its name in the table.

That command writes this page, from what the runs printed. A row is about the last run that passed. It names the
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
