import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The part of vitest's JSON result that is read here. */
export interface TestResults {
  readonly testResults: readonly {
    readonly name: string
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[]
  }[]
}

export interface Trace {
  /** Requirement ids in the title of at least one passed test, in the list's order. */
  readonly shown: readonly string[]
  readonly missing: readonly string[]
  /** What looks like an id in a title, passed or not, and is none. */
  readonly unknown: readonly string[]
}

/** Ranges such as `R-1-01…07` are taken as one word on purpose, and so found to be unknown. */
const idLike = /\bR-[0-9A-Za-z][-–….0-9A-Za-z]*[0-9A-Za-z]/g

const idsIn = (title: string): readonly string[] => title.match(idLike) ?? []

/** Compares the ids in test titles (describe blocks included) with the list of requirements. */
export function trace(results: TestResults, ids: readonly string[]): Trace {
  const tests = results.testResults.flatMap((file) => file.assertionResults)
  const mentioned = new Set(tests.flatMap((test) => idsIn(test.fullName)))
  const passed = tests.filter((test) => test.status === 'passed')
  const proved = new Set(passed.flatMap((test) => idsIn(test.fullName)))
  return {
    shown: ids.filter((id) => proved.has(id)),
    missing: ids.filter((id) => !proved.has(id)),
    unknown: [...mentioned].filter((id) => !ids.includes(id)),
  }
}

/** One line a section: `R-1: 08 09 20`. */
export function compact(ids: readonly string[]): string {
  const sections = new Map<string, string[]>()
  for (const id of ids) {
    const cut = id.lastIndexOf('-')
    const section = id.slice(0, cut)
    sections.set(section, [...(sections.get(section) ?? []), id.slice(cut + 1)])
  }
  return [...sections].map(([section, numbers]) => `  ${section}: ${numbers.join(' ')}`).join('\n')
}

function read<T>(url: URL): T {
  return JSON.parse(readFileSync(url, 'utf8'))
}

function main(): void {
  const ids = read<string[]>(new URL('requirement-ids.json', import.meta.url))
  const last = new URL('../.results/vitest.json', import.meta.url)
  if (!existsSync(last)) throw new Error('There is no test run to read: run npm test first.')
  const results = read<TestResults>(last)
  const { shown, missing, unknown } = trace(results, ids)
  console.log(`${shown.length} of ${ids.length} requirements have a passing test`)
  if (missing.length > 0) console.log(`Missing:\n${compact(missing)}`)
  if (unknown.length > 0) {
    console.error(`Test titles name unknown requirements: ${unknown.join(', ')}`)
    process.exitCode = 1
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main()
