import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** A line of `.results/reliability.jsonl`, as the reliability suites write it. */
export interface MeasuredFigure {
  readonly id: string
  readonly what: string
  readonly how: string
  readonly value: string
  readonly form: string
}

/** What every full run has to measure. */
const required = [
  ...['R1', 'R2', 'R3', 'R7', 'R10', 'R11', 'R12', 'R13', 'R14', 'R15', 'R16', 'R21', 'R32'],
  ...['revocation', 'sweep', 'tabs', 'trips'],
]

/** … and of these, one of its figures on Redis. */
const requiredOnRedis = ['R1', 'R7', 'R12', 'R15', 'revocation']

const introduction = `# Reliability

Written by \`npm run reliability\`, which measures everything below on the machine it runs on: several
processes of the library on one PostgreSQL or Redis, or several instances over one memory. \`npm test\` makes
the same assertions in fewer rounds. Every figure names the test that asserts it; a test that does
not hold fails the run, and then nothing is written here. Times depend on the machine.

| | What | Measured | Test |
|---|---|---|---|
`

/** Of a figure that was measured more than once, the last time. */
export function fullFigures(lines: string): readonly MeasuredFigure[] {
  const latest = new Map<string, MeasuredFigure>()
  for (const line of lines.split('\n').filter(Boolean)) {
    const found: MeasuredFigure = JSON.parse(line)
    if (found.form === 'full') latest.set(`${found.id} ${found.what}`, found)
  }
  return [...latest.values()].sort(
    (a, b) => order(a.id) - order(b.id) || compare(a.id, b.id) || compare(a.what, b.what),
  )
}

/** The ids of required figures that are not there. */
export function missingFigures(figures: readonly MeasuredFigure[]): readonly string[] {
  const has = (id: string, what: RegExp): boolean =>
    figures.some((figure) => figure.id === id && what.test(figure.what))
  return [
    ...required.filter((id) => !has(id, /^/)),
    ...requiredOnRedis.filter((id) => !has(id, /\bredis\b/i)).map((id) => `${id} on Redis`),
  ]
}

export function documentOf(figures: readonly MeasuredFigure[]): string {
  const rows = figures.map(({ id, what, value, how }) => {
    return `| ${[id, what, value, testOf(how)].map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`
  })
  return introduction + rows.join('')
}

/** A test's title without what the table says already. */
function testOf(title: string): string {
  return title
    .replace(/^figure [^:]+: /, '')
    .replaceAll(/\bR-[0-9A-Z.]+-\d+ /g, '')
    .replaceAll(' > ', ': ')
}

/** R2 before R10, and words after numbers. */
function order(id: string): number {
  return /^R\d+$/.test(id) ? Number(id.slice(1)) : Number.MAX_SAFE_INTEGER
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

function main(): void {
  const measured = new URL('../.results/reliability.jsonl', import.meta.url)
  const figures = existsSync(measured) ? fullFigures(readFileSync(measured, 'utf8')) : []
  const missing = missingFigures(figures)
  if (missing.length > 0) {
    console.error(`Not measured, so nothing is written: ${missing.join(', ')}`)
    process.exitCode = 1
    return
  }
  writeFileSync(new URL('../docs/reliability.md', import.meta.url), documentOf(figures))
  console.log(`docs/reliability.md: ${figures.length} figures`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main()
