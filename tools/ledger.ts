import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import ts from 'typescript'
import { commitOf } from '../bench/harness/machine.js'
import { storedResult, type TestResult, unionOf } from './shelf-results.js'

/** Why a row of ASVS has no test. */
export const standings = {
  void: 'void',
  deviation: 'deviation',
  host: 'the host’s part',
  open: 'not yet',
} as const

/** The one test that shows a row: its suites and sentence, without the cells of the matrix. */
interface Shown {
  readonly file: string
  readonly sentence: string
}

interface Reasoned {
  readonly standing: keyof typeof standings
  readonly reason: string
}

export type AsvsRow = (Shown | Reasoned) & {
  readonly level: 1 | 2 | 3
  readonly owner: 'library' | 'shared' | 'host'
  /** In a few words of our own. */
  readonly requirement: string
}

/** `test/ledger.json`: which test shows what, by the id of the requirement, the ASVS row, the advisory, the promise. */
export interface Ledger {
  readonly requirements: Readonly<Record<string, Shown>>
  readonly asvs: Readonly<Record<string, AsvsRow>>
  readonly advisories: Readonly<Record<string, Shown>>
  readonly promises: Readonly<Record<string, Shown>>
}

/** A row goes only together with what it is about, and then its number here goes down in the same commit. */
const least = { requirements: 321, asvs: 241, advisories: 95, promises: 64 } as const
/** Rows of ASVS that have a reason in place of a test. There may be fewer. */
const mostReasons = 15

interface Row extends Shown {
  readonly id: string
}

const isShown = (row: Shown | Reasoned): row is Shown => 'file' in row

/** Every row that names a test. */
export function shownRows(ledger: Ledger): readonly Row[] {
  return Object.values(ledger).flatMap((section: Readonly<Record<string, Shown | Reasoned>>) =>
    Object.entries(section).flatMap(([id, row]) => (isShown(row) ? [{ ...row, id }] : [])),
  )
}

/** Rows that went, and reasons that came. */
export function countProblems(ledger: Ledger): readonly string[] {
  const sections = ['requirements', 'asvs', 'advisories', 'promises'] as const
  const fewer = sections.flatMap((section) => {
    const count = Object.keys(ledger[section]).length
    return count < least[section] ? [`${section}: ${count} rows of ${least[section]}`] : []
  })
  const unknown = Object.entries(ledger.asvs).flatMap(([id, row]) =>
    isShown(row) || Object.hasOwn(standings, row.standing) ? [] : [`${id}: no such standing`],
  )
  const reasons = Object.values(ledger.asvs).filter((row) => !isShown(row)).length
  return reasons > mostReasons
    ? [
        ...fewer,
        ...unknown,
        `asvs: ${reasons} rows have a reason in place of a test, ${mostReasons} may`,
      ]
    : [...fewer, ...unknown]
}

const placeholder = /%%|%[sdifjoO#$c]|\$\{(?:[^{}]|\{[^{}]*\})*\}|\$[\w.]+/

/** What a title looks like without its cell and with its placeholders filled; null for one that is put together elsewhere. */
function titlePattern(title: ts.Node): string | null {
  if (!ts.isStringLiteralLike(title) && !ts.isTemplateExpression(title)) return null
  const text = ts.isStringLiteralLike(title) ? title.text : title.getText().slice(1, -1)
  return text
    .replaceAll(/ ?\[(\$\{[^}]*\}|\$[\w.]+|%s)\]/g, '')
    .split(placeholder)
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(/\s+/g, '\\s+'))
    .join('.*')
}

const isTest = (callee: string): boolean => /^(it|test|itOver\w+|testEach)\b|\.it$/.test(callee)
const isSuite = (callee: string): boolean => /^describe|\.describe$/.test(callee)

/** The pattern of the first argument that is a title; `.*` where that is a variable, null where there is none. */
function patternOf({ arguments: given }: ts.CallExpression): string | null {
  const [title] = given.slice(0, 2).flatMap((one) => titlePattern(one) ?? [])
  if (title !== undefined) return title
  return given.length > 1 ? '.*' : null
}

/** Whether a test of this source has the sentence, together with the suites around it. */
export function hasSentence(source: string, sentence: string): boolean {
  const file = ts.createSourceFile('a.test.ts', source, ts.ScriptTarget.Latest, true)
  let isFound = false
  const visit = (node: ts.Node, around: readonly string[]): void => {
    let within = around
    if (ts.isCallExpression(node)) {
      const callee = node.expression.getText()
      const pattern = isTest(callee) || isSuite(callee) ? patternOf(node) : null
      if (pattern !== null && pattern !== '') within = [...around, pattern]
      if (pattern !== null && isTest(callee)) isFound ||= fits(within, sentence)
    }
    ts.forEachChild(node, (child) => visit(child, within))
  }
  visit(file, [])
  return isFound
}

/** Titles whose words all come from elsewhere say nothing. Suites may be begun in another function than their tests. */
function fits(patterns: readonly string[], sentence: string): boolean {
  if (!patterns.some((pattern) => /[a-z]/.test(pattern))) return false
  return new RegExp(`(^|\\s)${patterns.join('\\s+')}$`).test(sentence)
}

const cellName = / ?\[(operator|client|(express|express 4|fastify|koa|koa 2|fetch) on [\w ]+)\]/g

/** A title as the ledger has it. */
export const sentenceOf = (title: string): string => title.replaceAll(cellName, '').trim()

/**
 * Rows whose test did not pass in these results: in every cell that it ran in, and in one at least. `whole` asks it of
 * every row, otherwise of those whose files ran.
 */
export function passedProblems(
  rows: readonly Row[],
  tests: readonly TestResult[],
  whole: boolean,
): readonly string[] {
  const byFile = new Map<string, Map<string, TestResult['status'][]>>()
  for (const { file, title, status } of tests) {
    const sentences = byFile.get(file) ?? new Map<string, TestResult['status'][]>()
    byFile.set(file, sentences)
    const sentence = sentenceOf(title)
    sentences.set(sentence, [...(sentences.get(sentence) ?? []), status])
  }
  return rows.flatMap(({ id, file, sentence }) => {
    const sentences = byFile.get(file)
    if (sentences === undefined) return whole ? [`${id}: ${file} did not run`] : []
    const statuses = sentences.get(sentence)
    if (statuses === undefined) return [`${id}: ${file} ran no test "${sentence}"`]
    const bad = statuses.find((status) => status !== 'passed')
    return bad === undefined ? [] : [`${id}: ${bad}: ${file} "${sentence}"`]
  })
}

const root = new URL('../', import.meta.url)

export const readLedger = (): Ledger =>
  JSON.parse(readFileSync(new URL('test/ledger.json', root), 'utf8'))

function sourceProblems(rows: readonly Row[]): readonly string[] {
  const sources = new Map<string, string | null>()
  return rows.flatMap(({ id, file, sentence }) => {
    const path = new URL(file, root)
    if (!sources.has(file)) sources.set(file, existsSync(path) ? readFileSync(path, 'utf8') : null)
    const source = sources.get(file) ?? null
    if (source === null) return [`${id}: there is no ${file}`]
    return hasSentence(source, sentence) ? [] : [`${id}: ${file} has no test "${sentence}"`]
  })
}

/** `npm run ledger` reads the sources; `npm run ledger -- all`, or the names of other shelves, what these last ran. */
function main(args: readonly string[]): void {
  const { positionals: shelves } = parseArgs({ args: [...args], allowPositionals: true })
  const ledger = readLedger()
  const rows = shownRows(ledger)
  const union = shelves.length === 0 ? null : unionOf(shelves, storedResult)
  const head = commitOf(fileURLToPath(root))
  const other =
    union === null || union.commit === head ? [] : [`they ran on ${union.commit}, not on ${head}`]
  const ran = union === null ? [] : passedProblems(rows, union.tests, shelves.includes('all'))
  const problems = [...countProblems(ledger), ...sourceProblems(rows), ...other, ...ran]
  for (const problem of problems) console.error(problem)
  const told =
    shelves.length === 0
      ? 'a test in the sources'
      : `a test, and passed on ${shelves.join(', ')} where it ran`
  console.log(`${rows.length} rows: ${rows.length - problems.length} have ${told}`)
  if (problems.length > 0) process.exitCode = 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2))
