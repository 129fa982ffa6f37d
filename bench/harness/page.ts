import { acrossNodes } from './across-nodes.js'
import { goals, judge, limitText, unmeasured } from './goals.js'
import { computerText, type Machine } from './machine.js'
import { reasons } from './reasons.js'
import { spreadText } from './statistics.js'
import type { StoredResult } from './stored-result.js'
import type { Figure, Suite, SuiteTable } from './suite.js'
import { markdownTable } from './text-table.js'

const introduction = `# Performance

\`npm run bench\` writes this page from \`bench/results\`, where each suite keeps what it measured last. Each section names
the commit, the day and the machine of its run.

How to read it:

- Contenders run in turn, round after round, on the same machine. A ratio compares two of them **within one round**,
  so that a slow minute of the machine changes both.
- Three numbers are the least, the median and the greatest of the rounds. The median is held against the limit.
- The CPU time of the server for one request comes first. It hardly depends on what else the machine does, and
  throughput does.
- Peers are set up as their own documentation recommends for production. The files in \`bench/contenders\` say how.
- A figure that misses its limit stays in the table, as **missed**.
`

/** The whole page, with a section for each of `suites`, in their order. */
export function pageOf(
  stored: readonly StoredResult[],
  suites: readonly Pick<Suite, 'name' | 'title'>[],
): string {
  const known = suites.flatMap(({ name }) => stored.filter(({ suite }) => suite === name))
  const usual = known.filter(({ otherNode }) => !otherNode)
  const others = known.filter(({ otherNode }) => otherNode)
  const sections = suites.map(({ name, title }) => {
    const own = usual.find(({ suite }) => suite === name)
    return own === undefined ? `## ${title}\n\nThis suite never ran.\n` : sectionOf(own)
  })
  const parts = [introduction, goalTable(usual, acrossNodes(known)), ...sections]
  if (others.length > 0) parts.push(otherNodes(others))
  return `${parts.join('\n').trimEnd()}\n`
}

function goalTable(stored: readonly StoredResult[], more: readonly Figure[]): string {
  const figures = [...stored.flatMap(({ result }) => result.figures), ...more]
  const missing = unmeasured(Object.keys(goals), figures)
  const lines = Object.entries(goals).flatMap(([id, what]) =>
    missing.includes(id)
      ? [[what, 'all of it', '', '-', '**not measured**']]
      : figures.filter(({ goal }) => goal === id).map((figure) => [what, ...cells(figure)]),
  )
  const table = markdownTable(['', 'Figure', 'Goal', 'Measured', 'Result'], lines)
  return `## Goals\n\n${table}\n${whyMissed(figures)}`
}

/** Of the figures that miss their limit: why, those of one cause together. */
function whyMissed(figures: readonly Figure[]): string {
  const missed = figures.filter((figure) => judge(figure).verdict === 'missed')
  const causes = [...new Set(missed.map(({ why }) => why))]
  const lines = causes.map((why) => {
    const those = missed.filter((figure) => figure.why === why)
    const names = those.map(
      ({ goal, what }) => `${goal === undefined ? '' : `${goals[goal]}, `}${what}`,
    )
    return `- **${names.join('; ')}.** ${why === undefined ? 'Not explained yet.' : reasons[why]}`
  })
  return lines.length === 0 ? '' : `\nWhy goals are missed:\n\n${lines.join('\n')}\n`
}

function cells(figure: Figure): readonly string[] {
  const { verdict, by } = judge(figure)
  const result = verdict === 'missed' ? `**missed**: ${by}` : verdict
  return [figure.what, limitText(figure), measured(figure), result]
}

function measured({ values, unit }: Figure): string {
  const single = new Set(values).size === 1 ? values.slice(0, 1) : values
  const text =
    single.length === 1 ? (spreadText(single).split(' / ')[0] ?? '-') : spreadText(values)
  return unit === undefined || values.length === 0 ? text : `${text} ${unit}`
}

/** What the page says of one result. */
export function sectionOf(stored: StoredResult): string {
  const reported = stored.result.figures.filter(({ goal }) => goal === undefined)
  const tables = stored.result.tables.map(tableText)
  const more =
    reported.length === 0
      ? []
      : [`${markdownTable(['Figure', 'Goal', 'Measured', 'Result'], reported.map(cells))}\n`]
  return [`## ${stored.title}\n`, `${provenance(stored)}\n`, ...tables, ...more].join('\n')
}

function tableText({ title, head, rows, note }: SuiteTable): string {
  const above = title === undefined ? '' : `### ${title}\n\n`
  const below = note === undefined ? '' : `\n${note}\n`
  return `${above}${markdownTable(head, rows)}\n${below}`
}

function provenance({ commit, date, rounds, machine }: StoredResult): string {
  return `Commit \`${commit}\`, ${date.slice(0, 10)}, ${rounds} rounds, Node ${machine.node}. ${machineText(machine)}`
}

function machineText(machine: Machine): string {
  const { loadAtStart, postgres, redis } = machine
  const servers = [
    postgres === null ? 'no Postgres' : `Postgres ${postgres}`,
    redis === null ? 'no Redis' : `Redis ${redis}`,
  ]
  return `${computerText(machine)}, ${servers.join(', ')}, load ${loadAtStart} at the start.`
}

function otherNodes(stored: readonly StoredResult[]): string {
  const rows = stored.flatMap(({ suite, commit, date, machine, result }) =>
    result.figures.map((figure) => [
      machine.node,
      suite,
      ...cells(figure),
      `\`${commit}\` ${date.slice(0, 10)}`,
    ]),
  )
  const head = ['Node', 'Suite', 'Figure', 'Goal', 'Measured', 'Result', 'Commit']
  return `## On other versions of Node\n\n${markdownTable(head, rows)}\n`
}
