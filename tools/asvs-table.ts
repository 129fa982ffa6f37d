import { isHeader, plainTitle } from './requirement-table.js'

/** Why a row has no test. */
export const standings = {
  void: 'void',
  deviation: 'deviation',
  host: 'the host’s part',
  open: 'not yet',
} as const
export type Standing = keyof typeof standings

/** One row of `test/asvs.md`: the test that shows it, or why there is none. */
export interface AsvsRow {
  /** As in the standard, such as `7.3.2`. */
  readonly id: string
  readonly level: 1 | 2 | 3
  readonly owner: 'library' | 'shared' | 'host'
  readonly requirement: string
  readonly by:
    | { readonly file: string; readonly title: string }
    | { readonly standing: Standing; readonly reason: string }
}

export interface AsvsTable {
  readonly rows: readonly AsvsRow[]
  /** What is no row in the form that is read, as `line N: why`. */
  readonly problems: readonly string[]
}

const row =
  /^\| (?<id>\d+\.\d+\.\d+) \| (?<level>[123]) \| (?<owner>library|shared|host) \| (?<requirement>.*?[^\\]) \| (?<where>\S+) \| (?<what>.+) \|$/
const testFile = /^test\/\S+\.test\.ts$/

const levels = { '1': 1, '2': 2, '3': 3 } as const
const owners = ['library', 'shared', 'host'] as const

const isStanding = (word: string): word is Standing => Object.hasOwn(standings, word)
const isLevel = (text: string): text is keyof typeof levels => Object.hasOwn(levels, text)

function readRow(line: string): AsvsRow | null {
  const { id, level, owner, requirement, where, what } = row.exec(line)?.groups ?? {}
  const known = owners.find((name) => name === owner)
  if (id === undefined || level === undefined || !isLevel(level) || known === undefined) return null
  if (requirement === undefined || where === undefined || what === undefined) return null
  const text = what.replaceAll('\\|', '|')
  const fields = { id, level: levels[level], owner: known, requirement }
  if (testFile.test(where)) return { ...fields, by: { file: where, title: plainTitle(text) } }
  return isStanding(where) ? { ...fields, by: { standing: where, reason: text } } : null
}

/** Reads the table: a section a chapter (`## V7`), in it a row for each id. A `|` of a title is written `\|`. */
export function readAsvsTable(markdown: string): AsvsTable {
  const rows: AsvsRow[] = []
  const problems: string[] = []
  let chapter = ''
  markdown.split('\n').forEach((line, index) => {
    const say = (why: string) => problems.push(`line ${index + 1}: ${why}`)
    if (line.startsWith('## ')) chapter = line.slice(3).trim()
    if (!line.startsWith('|') || isHeader(line)) return
    const read = readRow(line)
    if (read === null) {
      say(
        'a row is | id | level | owner | requirement | test/….test.ts or a standing | title or reason |',
      )
      return
    }
    if (`V${read.id.split('.')[0]}` !== chapter) {
      say(`${read.id} stands in the section ${chapter || 'of no chapter'}`)
    }
    if (rows.some(({ id }) => id === read.id)) say(`${read.id} has a row already`)
    rows.push(read)
  })
  return { rows, problems }
}
