import { createHash, pbkdf2Sync } from 'node:crypto'
import { existsSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import ts from 'typescript'
import { textTable } from '../bench/harness/text-table.js'
import { isOnShelf } from '../test/shelves.js'
import { targets } from './generate.js'

/** What the repository has of each thing that has a limit, by the name of the row. */
export type Figures = Readonly<Record<string, number>>

/** What an order may add. */
interface Allowance {
  /** Lines of `src` and `adapters` together. */
  readonly lines: number
  readonly cpuSeconds: number
  readonly words: number
  readonly names: number
}

/** CPU time of the fast shelf, in units of the calibration, whose seconds turn an allowance into such units. */
interface Cpu {
  readonly ratio: number
  readonly calibrationSeconds: number
}

/** `budget.json`. */
export interface Budget {
  readonly limits: Figures
  /** Null until a run of the fast shelf was recorded by `--write`. */
  readonly cpu: Cpu | null
  readonly allowances: Readonly<Record<string, Allowance>>
  /** Which orders were begun, and at which figures. `ratio` is null where no run of the fast shelf was there. */
  readonly begun: readonly {
    readonly order: string
    readonly from: Figures
    readonly ratio: number | null
  }[]
  /** No allowance goes beyond these. */
  readonly goals: Figures
}

export interface Row {
  readonly area: string
  readonly now: number
  readonly limit: number
  readonly state: 'ok' | 'warn' | 'over'
}

const core = [
  ...['domain', 'engine', 'http', 'operations', 'ports', 'model', 'crypto', 'settings', 'setup'],
  ...['errors', 'system', 'concurrency', 'checks', 'stores'],
]
const shipped = 'lines of src and adapters'

/** The area whose lines a file counts to. */
function areaOf(file: string): string {
  const [top, folder = ''] = file.split('/')
  if (top === 'src') return core.includes(folder) ? 'lines of core' : 'lines of other src'
  if (top === 'adapters') return 'lines of adapters'
  if (top === 'tools' || ['support', 'planted'].includes(folder)) return 'lines of tools'
  // What tests share goes with the tests beside it.
  const test = file.endsWith('.test.ts') ? file : file.replace(/\.tsx?$/, '.test.ts')
  return isOnShelf('fast', test) ? 'lines of fast tests' : 'lines of other tests'
}

/** Whether a slash behind it divides, as behind the end of an expression; else it begins a pattern. */
function endsExpression(token: ts.SyntaxKind): boolean {
  const { CloseParenToken, CloseBracketToken, CloseBraceToken, Identifier } = ts.SyntaxKind
  if ([CloseParenToken, CloseBracketToken, CloseBraceToken, Identifier].includes(token)) return true
  return token >= ts.SyntaxKind.FirstLiteralToken && token <= ts.SyntaxKind.LastTemplateToken
}

/** `open` has, for each template that is open, how many braces are open in its expression. */
function follow(open: number[], token: ts.SyntaxKind): void {
  const { OpenBraceToken, CloseBraceToken, TemplateHead, TemplateTail } = ts.SyntaxKind
  const change = Number(token === OpenBraceToken) - Number(token === CloseBraceToken)
  if (change !== 0 && open.length > 0) open.push((open.pop() ?? 0) + change)
  if (token === TemplateHead) open.push(0)
  if (token === TemplateTail) open.pop()
}

/** Calls `visit` with the beginning and the end of each token. */
function eachToken(text: string, visit: (start: number, end: number) => void): void {
  const { CloseBraceToken, SlashToken } = ts.SyntaxKind
  const scanner = ts.createScanner(ts.ScriptTarget.ESNext, true, ts.LanguageVariant.Standard, text)
  const open: number[] = []
  let before: ts.SyntaxKind = ts.SyntaxKind.Unknown
  for (;;) {
    let token = scanner.scan()
    if (token === ts.SyntaxKind.EndOfFileToken) return
    if (token === SlashToken && !endsExpression(before)) token = scanner.reScanSlashToken()
    if (token === CloseBraceToken && open.at(-1) === 0) token = scanner.reScanTemplateToken(false)
    follow(open, token)
    visit(scanner.getTokenStart(), scanner.getTokenEnd())
    before = token
  }
}

/** How many lines of a source have a token on them: neither empty ones nor comments count. */
export function codeLines(text: string): number {
  let [lines, line, seen, last] = [0, 0, 0, -1]
  const lineAt = (position: number): number => {
    for (; seen < position; seen += 1) if (text[seen] === '\n') line += 1
    return line
  }
  eachToken(text, (start, end) => {
    const first = Math.max(lineAt(start), last + 1)
    last = Math.max(lineAt(end), last)
    lines += Math.max(0, last - first + 1)
  })
  return lines
}

/** Everything but the CPU time. */
export function figuresOf(root: string): Figures {
  const read = (path: string): string => readFileSync(`${root}${path}`, 'utf8')
  const find = (pattern: string): readonly string[] =>
    globSync(pattern, { cwd: root, exclude: (path) => path.includes('node_modules') })
  const files = find('{src,adapters,test,tools}/**/*.{ts,tsx}')
  const areas = new Map<string, number>([[shipped, 0]])
  for (const file of files) {
    const lines = codeLines(read(file))
    const isShipped = /^(src|adapters)\//.test(file)
    for (const area of [areaOf(file), ...(isShipped ? [shipped] : [])]) {
      areas.set(area, (areas.get(area) ?? 0) + lines)
    }
  }
  const written = Object.values(targets).flatMap(({ pages = [] }) => pages)
  const pages = find('docs/**/*.md').filter((path) => !written.includes(path.slice(5)))
  const words = pages.map((path) => read(path).split(/\s+/).filter(Boolean).length)
  const { scripts }: { readonly scripts: object } = JSON.parse(read('package.json'))
  return {
    ...Object.fromEntries([...areas].toSorted(([one], [other]) => (one < other ? -1 : 1))),
    'files of src and adapters': files.filter((path) => /^(src|adapters)\//.test(path)).length,
    // A test compares this page with what the entry exports; a blank line parts the names.
    'names of the main entry': read('test/package/api/postern.txt').trim().split('\n\n').length,
    'words of hand-written docs': words.reduce((sum, count) => sum + count, 0),
    'bytes of CONTRIBUTING.md': statSync(`${root}CONTRIBUTING.md`).size,
    'bytes of README.md': statSync(`${root}README.md`).size,
    'npm scripts': Object.keys(scripts).length,
  }
}

/** CPU seconds of a fixed piece of work, the least of a dozen, so that other programs and a slow start count little. */
function calibration(): number {
  const tries = Array.from({ length: 12 }, () => {
    const before = process.cpuUsage()
    const kept = new Map<string, number>()
    for (let at = 0; at < 400_000; at += 1) kept.set(`key ${(at * 7919) % 60_000}`, at)
    const text = JSON.stringify([...kept])
    for (let at = 0; at < 6; at += 1) JSON.parse(text)
    for (let at = 0; at < 20; at += 1) createHash('sha256').update(text).digest()
    pbkdf2Sync('calibration', 'salt', 400_000, 32, 'sha256')
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1e6
  })
  return Math.min(...tries)
}

/** What the last run of the fast shelf took; null where there was none. */
function cpuOf(root: string): Cpu | null {
  const file = `${root}.results/fast.json`
  if (!existsSync(file)) return null
  const { cpuSeconds }: { readonly cpuSeconds: number } = JSON.parse(readFileSync(file, 'utf8'))
  const calibrationSeconds = calibration()
  return { ratio: cpuSeconds / calibrationSeconds, calibrationSeconds }
}

/** What an allowance adds to a row. */
function addedTo(area: string, { lines, words, names }: Allowance): number {
  if (area === shipped || /^lines of (core|other src|adapters)$/.test(area)) return lines
  // What is new is tested, and does not have to fit into the files that there are.
  if (/^lines of (fast|other) tests$/.test(area)) return 2 * lines
  if (area === 'files of src and adapters') return Math.ceil(lines / 100)
  if (area === 'words of hand-written docs') return words
  return area === 'names of the main entry' ? names : 0
}

/** Each figure beside its limit. The orders that were begun lift it, up to the goal. */
export function judge({ limits, allowances, begun, goals }: Budget, now: Figures): readonly Row[] {
  return Object.entries(now).map(([area, figure]) => {
    const lifted = begun.map(({ order, from }) => {
      const allowance = allowances[order]
      return allowance === undefined ? 0 : (from[area] ?? 0) + addedTo(area, allowance)
    })
    const limit = Math.min(
      goals[area] ?? Number.POSITIVE_INFINITY,
      Math.max(limits[area] ?? 0, ...lifted),
    )
    return { area, now: figure, limit, state: figure > limit ? 'over' : 'ok' }
  })
}

/** The CPU time of the fast shelf: a fifth above what was recorded warns, half above it is over. */
export function judgeCpu({ cpu, allowances, begun }: Budget, ratio: number): Row {
  const recorded = cpu ?? { ratio, calibrationSeconds: 1 }
  const lifted = begun.map(({ order, ratio: from }) => {
    const seconds = allowances[order]?.cpuSeconds ?? 0
    return (from ?? recorded.ratio) + seconds / recorded.calibrationSeconds
  })
  const usual = Math.max(recorded.ratio, ...lifted)
  const state = ratio > 1.5 * usual ? 'over' : ratio > 1.2 * usual ? 'warn' : 'ok'
  const round = (value: number): number => Math.round(value * 10) / 10
  return { area: 'CPU of the fast shelf', now: round(ratio), limit: round(1.5 * usual), state }
}

/** The limits as today's figures have them; none is raised. */
export function lowered(budget: Budget, now: Figures, cpu: Cpu | null): Budget {
  const limits = Object.entries(now).map(([area, figure]) => {
    return [area, Math.min(budget.limits[area] ?? figure, figure)] as const
  })
  const isLower = cpu !== null && cpu.ratio < (budget.cpu?.ratio ?? Number.POSITIVE_INFINITY)
  return { ...budget, limits: Object.fromEntries(limits), cpu: isLower ? cpu : budget.cpu }
}

/** The budget with an order begun at today's figures. */
export function withBegun(budget: Budget, order: string, from: Figures, cpu: Cpu | null): Budget {
  if (!Object.hasOwn(budget.allowances, order)) {
    throw new Error(`no order ${order}; there are ${Object.keys(budget.allowances).join(', ')}`)
  }
  if (budget.begun.some((one) => one.order === order)) throw new Error(`${order} was begun before`)
  return { ...budget, begun: [...budget.begun, { order, from, ratio: cpu?.ratio ?? null }] }
}

function main(): void {
  const options = { write: { type: 'boolean' }, begin: { type: 'string' } } as const
  const { values } = parseArgs({ options })
  const root = fileURLToPath(new URL('../', import.meta.url))
  const [now, cpu] = [figuresOf(root), cpuOf(root)]
  let budget: Budget = JSON.parse(readFileSync(`${root}budget.json`, 'utf8'))
  if (values.write) budget = lowered(budget, now, cpu)
  if (values.begin !== undefined) budget = withBegun(budget, values.begin, now, cpu)
  if (values.write || values.begin !== undefined) {
    writeFileSync(`${root}budget.json`, `${JSON.stringify(budget, null, 2)}\n`)
  }
  const rows = [...judge(budget, now), ...(cpu === null ? [] : [judgeCpu(budget, cpu.ratio)])]
  const cells = rows.map(({ area, now: figure, limit, state }) => {
    return [area, ...[figure, limit].map((one) => one.toLocaleString('en')), state]
  })
  console.log(textTable(['area', 'now', 'limit', ''], cells))
  if (cpu === null) console.log('CPU of the fast shelf: there is no run to judge')
  else if (budget.cpu === null) console.log('No CPU time is recorded yet: --write records it')
  if (rows.some(({ state }) => state === 'over')) process.exitCode = 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main()
