import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { commitOf } from '../bench/harness/machine.js'
import { markdownTable } from '../bench/harness/text-table.js'

const root = new URL('../', import.meta.url)
const folder = 'test/reliability/'
const results = new URL('.results/reliability.jsonl', root)

/** A line of `.results/reliability.jsonl`, as the reliability suites write it. */
export interface MeasuredFigure {
  readonly id: string
  readonly what: string
  readonly how: string
  readonly value: string
  readonly form: string
  /** Of the tree it was measured at; `-` for one that was measured before rows named it. */
  readonly commit?: string
}

/** What every full run has to measure. */
const required = [
  ...['R1', 'R2', 'R3', 'R4', 'R5', 'R7', 'R9', 'R10', 'R11', 'R12', 'R13', 'R14', 'R15', 'R16'],
  ...['R21', 'R29', 'R30', 'R32'],
  ...['revocation', 'sweep', 'tabs', 'trips'],
]

/** … and of these, one of its figures on Redis. */
const requiredOnRedis = ['R1', 'R7', 'R12', 'R15', 'revocation']

const introduction = `# Reliability

Written by \`npm run test:long -- reliability\`, which measures everything below on the machine it runs on: several
processes of the library on one PostgreSQL or Redis, or several instances over one memory. \`npm run test:all\` makes
the same assertions in fewer rounds. Every figure names the test that asserts it; a test that does
not hold fails the run, and then nothing is written here. Times depend on the machine. Some of the figures alone are
measured again by \`npm run test:long -- reliability R7 trips\`; the others stay, and each row names the commit it was measured at.
A row with "-" is older than that column, and its commit is not known. R1 to R32 number what is measured. Such a number, or
a code such as T-98 or SP-12, in the name of a test says which requirement the test shows; one test may show several.

In short:

- If many requests use the same mailed link, ticket or code at once, one succeeds (R7). If many use the same refresh
  token at once, one rotates it, and within the grace the others get the same new generation (R1, R2).
- A replaced refresh token that comes after the grace ends its session in every process (R3). After a sign-out, the
  other processes refuse the session too (revocation).
- No edit of a configuration is lost (R4, R5).
- If a process is killed, a repeated request or the sweep completes what it began (R15). While a database does not
  answer, requests that need it get 503 (R11, R12, R14). A Redis that loses its denylist lets access tokens of ended
  sessions in until they expire (R13).
- If clocks differ by five minutes, only the effects that the documentation names occur (R16).
- The time of a refusal does not tell why a login or a grant failed, nor whether an address has an account (R21).
- In half an hour of every flow, memory, connections and tables do not grow beyond their bounds, and the processes stay as
  fast as fresh ones, within a fifth (R30).

`

/** The numbers that have no row. */
const elsewhere = `
## Shown elsewhere

- **Random histories of every flow** (R6): the simulation, a million steps for each change and ten million before a
  release: [long runs](assurance.md).
- **Two hundred guesses at once** (R8) at a password, a code and a step-up: \`test/contract/login/lockout.test.ts\`,
  \`second-factor-lockout.test.ts\` beside it.
- **A flood of logins** (R17, R18, R19): a protected route beside sixteen logins at a time, and their memory, are among the
  [figures beside the peers](performance.md). [Limits](limits.md#how-each-is-counted) says how many hashes run and wait;
  \`test/crypto/hash-gate.test.ts\` and \`test/contract/limits/hash-queue.test.ts\` assert it.
- **The cost of a protected route** (R20): [performance](performance.md).
- **Refusals that are alike in every byte** (R22): \`test/contract/login/login-refusals.test.ts\`,
  \`test/contract/passwords/recovery.test.ts\`, \`test/contract/service-accounts/service-grant-refusals.test.ts\`, and
  \`test/reliability/taken-or-free.test.ts\` for what asks for an address.
- **No secret in logs, events, rows or memory** (R23): \`test/contract/storage/leaks.test.ts\`,
  \`test/security/secrets-in-memory\`.
- **Parsers and the longest inputs** (R24, R25): \`test/fuzz\`, a million malformed requests and every regular expression
  (\`test/security/expressions.test.ts\`): [long runs](assurance.md).
- **A login that renews a hash while the password changes** (R26): \`test/contract/passwords/password-hashes.test.ts\`.
- **One contract for all stores** (R27): the conformance kit, [long runs](assurance.md).
- **Data of older releases** (R28): \`test/package/goldens\`, \`test/adapters/postgres-migrate.test.ts\`.
- **Mistakes that the tests have to notice** (R31): planted mistakes and mutation, [long runs](assurance.md).
`

/** Of a figure that was measured more than once, the last time. */
export function fullFigures(lines: string): readonly MeasuredFigure[] {
  const latest = new Map<string, MeasuredFigure>()
  for (const line of lines.split('\n').filter(Boolean)) {
    const found: MeasuredFigure = JSON.parse(line)
    const figure = { ...found, how: testOf(found.how) }
    if (found.form === 'full') latest.set(`${found.id} ${found.what}`, figure)
  }
  return inOrder([...latest.values()])
}

function inOrder(figures: readonly MeasuredFigure[]): readonly MeasuredFigure[] {
  return figures.toSorted(
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
  const rows = figures.map(({ id, what, value, how, commit = '-' }) => {
    return [id, what, value, how, commit]
  })
  const head = ['', 'What', 'Measured', 'Test', 'Commit']
  return `${introduction}${markdownTable(head, rows)}\n${elsewhere}`
}

/** The rows of a page that was written before. Throws for a line that is none of them. */
export function figuresOf(page: string): readonly MeasuredFigure[] {
  const lines = page.split('\n').filter((line) => /^\| [A-Za-z]/.test(line))
  return lines.map((line) => {
    const cells = line
      .slice(2, -2)
      .split(/(?<!\\) \| /)
      .map((cell) => cell.replaceAll('\\|', '|'))
    const [id, what, value, how, commit = '-', ...more] = cells
    if (!id || !what || !value || !how || more.length > 0) {
      throw new Error(`docs/reliability.md: this is no row: ${line}`)
    }
    return { id, what, value, how, form: 'full', commit }
  })
}

/** What is kept of a page, where only figures with these ids were measured, beside what was. */
export function withOthers(
  measured: readonly MeasuredFigure[],
  before: readonly MeasuredFigure[],
  ids: readonly string[],
): readonly MeasuredFigure[] {
  return inOrder([
    ...before.filter(({ id }) => !ids.includes(id)),
    ...measured.filter(({ id }) => ids.includes(id)),
  ])
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

/** Without ids everything was measured; with them, they alone, and the page keeps its other rows. */
function writeReliability(measured: string, ids: readonly string[], commit: string): void {
  const page = new URL('docs/reliability.md', root)
  const found = fullFigures(measured).map((figure) => ({ ...figure, commit }))
  const figures =
    ids.length === 0 ? found : withOthers(found, figuresOf(readFileSync(page, 'utf8')), ids)
  const unseen = ids.filter((id) => !found.some((figure) => figure.id === id))
  const isAsked = (missing: string): boolean =>
    ids.length === 0 || ids.some((id) => missing.split(' ')[0] === id)
  const missing = [...unseen, ...missingFigures(figures).filter(isAsked)]
  if (missing.length > 0) {
    throw new Error(`Not measured, so nothing is written: ${missing.join(', ')}`)
  }
  writeFileSync(page, documentOf(figures))
  console.log(`docs/reliability.md: ${found.length} of ${figures.length} figures measured`)
}

/** The files with a test that names one of these figures in its title; all of them without ids. */
function filesOf(ids: readonly string[]): readonly string[] {
  const files = readdirSync(new URL(folder, root))
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `${folder}${name}`)
  const texts = new Map(files.map((file) => [file, readFileSync(new URL(file, root), 'utf8')]))
  const naming = (id: string) => files.filter((file) => titled([id]).test(texts.get(file) ?? ''))
  const unknown = ids.filter((id) => !/^\w+$/.test(id) || naming(id).length === 0)
  if (unknown.length > 0) throw new Error(`no test measures ${unknown.join(', ')}`)
  return ids.length === 0 ? [folder] : [...new Set(ids.flatMap(naming))]
}

const titled = (ids: readonly string[]): RegExp => new RegExp(`figure (?:${ids.join('|')})\\b`)

/** The exit code of the tests. */
function measure(ids: readonly string[]): number {
  const names = ids.length === 0 ? [] : ['-t', titled(ids).source]
  const args = ['run', ...filesOf(ids), ...names, '--no-file-parallelism', '--reporter=default']
  rmSync(results, { force: true })
  const vitest = fileURLToPath(new URL('node_modules/vitest/vitest.mjs', root))
  const env = { ...process.env, SHELF: 'all', RELIABILITY: 'full' }
  const options = { cwd: fileURLToPath(root), env, stdio: 'inherit' } as const
  return spawnSync(process.execPath, [vitest, ...args], options).status ?? 1
}

/** Measures every figure, or those alone whose ids are given: `npm run test:long -- reliability R7 trips`. */
function main(ids: readonly string[]): void {
  const commit = commitOf(fileURLToPath(root))
  const code = measure(ids)
  if (code === 0 && existsSync(results)) {
    writeReliability(readFileSync(results, 'utf8'), ids, commit)
    return
  }
  console.error('A test failed, or none ran: nothing is written.')
  process.exitCode = code === 0 ? 1 : code
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2))
