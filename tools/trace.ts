import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { asvsLines, asvsOf } from './asvs.js'
import { readResults } from './read-results.js'
import { chapterOf, readRequirementTable } from './requirement-table.js'
import { trace } from './trace-tests.js'

/** One line a chapter: `R-1: 08 09 20`. */
export function compact(ids: readonly string[]): string {
  const chapters = new Map<string, string[]>()
  for (const id of ids) {
    const chapter = chapterOf(id)
    chapters.set(chapter, [...(chapters.get(chapter) ?? []), id.slice(chapter.length + 1)])
  }
  return [...chapters].map(([chapter, numbers]) => `  ${chapter}: ${numbers.join(' ')}`).join('\n')
}

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

function main([listed]: readonly string[]): void {
  const ids: readonly string[] = JSON.parse(read('tools/requirement-ids.json'))
  const table = readRequirementTable(read('test/requirements.md'))
  const results = readResults(listed)
  const { shown, missing, problems } = trace(results, table, ids)
  console.log(`${shown.length} of ${ids.length} requirements are shown whole`)
  if (missing.length > 0)
    console.error(`Without a row in test/requirements.md:\n${compact(missing)}`)
  for (const problem of problems) console.error(problem)
  const standard = asvsOf(results)
  for (const line of asvsLines(standard.table, standard)) console.log(line)
  for (const problem of standard.problems) console.error(problem)
  const isWhole = missing.length === 0 && problems.length === 0 && standard.problems.length === 0
  if (!isWhole) process.exitCode = 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2))
