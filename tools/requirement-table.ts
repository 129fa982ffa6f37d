/** One row of `test/requirements.md`: the one test that shows a requirement whole. */
export interface RequirementRow {
  readonly id: string
  /** Below the repository's root, such as `test/setup/create-auth.test.ts`. */
  readonly file: string
  /** The full title, describe blocks included. */
  readonly title: string
}

export interface RequirementTable {
  readonly rows: readonly RequirementRow[]
  /** What is no row in the form that is read, as `line N: why`. */
  readonly problems: readonly string[]
}

const row = /^\| (?<id>\S+) \| (?<file>test\/\S+\.test\.ts) \| (?<title>.+) \|$/

/** The chapter an id belongs to: `R-2.6` of `R-2.6-03`. */
export const chapterOf = (id: string): string => id.slice(0, id.lastIndexOf('-'))

/**
 * A title as the table holds it, on one line. Vitest joins describe blocks with a space in its results
 * and with ` > ` in its lists, so a reader of either finds the same words.
 */
export const plainTitle = (title: string): string =>
  title.replaceAll(' > ', ' ').replaceAll(/\s+/g, ' ').trim()

export const isHeader = (line: string): boolean =>
  line.startsWith('| id |') || line.startsWith('| ---')

/** Reads the table: a section a chapter (`## R-1`), in it a row for each id. A `|` of a title is written `\|`. */
export function readRequirementTable(markdown: string): RequirementTable {
  const rows: RequirementRow[] = []
  const problems: string[] = []
  let chapter = ''
  markdown.split('\n').forEach((line, index) => {
    const say = (why: string) => problems.push(`line ${index + 1}: ${why}`)
    if (line.startsWith('## ')) chapter = line.slice(3).trim()
    if (!line.startsWith('|') || isHeader(line)) return
    const { id, file, title } = row.exec(line)?.groups ?? {}
    if (id === undefined || file === undefined || title === undefined) {
      say('a row is | id | test/….test.ts | full title |')
      return
    }
    if (chapterOf(id) !== chapter) say(`${id} stands in the section ${chapter || 'of no chapter'}`)
    if (rows.some((earlier) => earlier.id === id)) say(`${id} has a row already`)
    rows.push({ id, file, title: plainTitle(title.replaceAll('\\|', '|')) })
  })
  return { rows, problems }
}
