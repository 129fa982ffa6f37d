import { internalId } from '../test/support/rules/internal-ids.js'
import { type AsvsRow, type AsvsTable, standings } from './asvs-table.js'

const chapters: Readonly<Record<string, string>> = {
  V1: 'Encoding and sanitization',
  V2: 'Validation and business logic',
  V3: 'Web frontend',
  V4: 'API',
  V6: 'Authentication',
  V7: 'Sessions',
  V8: 'Authorization',
  V9: 'Self-contained tokens',
  V10: 'OAuth and OpenID Connect',
  V11: 'Cryptography',
  V12: 'Secure communication',
  V13: 'Configuration',
  V14: 'Data protection',
  V15: 'Architecture',
  V16: 'Logging and errors',
}

export interface Tally {
  readonly levels: readonly {
    readonly level: number
    readonly shown: number
    readonly all: number
  }[]
  /** The ids without a test, by their standing. */
  readonly others: Readonly<Record<(typeof standings)[keyof typeof standings], readonly string[]>>
}

/** Counts the rows of the library and the shared ones; a host's row that is shown as well is no row of ours. */
export function tally({ rows }: AsvsTable, shown: readonly string[]): Tally {
  const ours = rows.filter(({ owner }) => owner !== 'host')
  const of = (standing: keyof typeof standings) =>
    ours.filter(({ by }) => 'standing' in by && by.standing === standing).map(({ id }) => id)
  return {
    levels: [1, 2, 3].map((level) => {
      const all = ours.filter((row) => row.level === level)
      return { level, shown: all.filter(({ id }) => shown.includes(id)).length, all: all.length }
    }),
    others: {
      [standings.void]: of('void'),
      [standings.deviation]: of('deviation'),
      [standings.host]: of('host'),
      [standings.open]: of('open'),
    },
  }
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;')

/** A title without the ids of lists that a reader of the pages does not have. */
const inWords = (title: string): string =>
  title
    .replaceAll(internalId, '')
    .replaceAll(/\bASVS-[\d.]+\d/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()

function shownBy({ by }: AsvsRow): string {
  if ('standing' in by) return `**${standings[by.standing]}:** ${cell(by.reason)}`
  return `\`${by.file}\`: ${cell(inWords(by.title))}`
}

const intro = `# OWASP ASVS 5.0

The [Application Security Verification Standard](https://owasp.org/www-project-application-security-verification-standard/)
says what an application must do to be called secure at level 1, 2 or 3. This page goes through the rows that a library
for authentication can meet by itself (*library*) or together with its host (*shared*). Rows that are the host's alone,
such as TLS, and rows about things that the library does not have, such as SAML, are left out.

A row counts as shown when a test of this repository carries its id in the title and passed in the last run. The page
leaves the ids out of the titles; any other code in a title names a requirement of the project. The requirement stands
here in a few words of our own; the standard has the full text. A row without a test says why:

- **void:** the thing it is about does not exist here.
- **deviation:** we do something else on purpose. [SECURITY.md](../SECURITY.md#deviations-from-asvs-50) has the reasons.
- **the host’s part:** the library takes no part in it, and the page named says what you have to do.
- **not yet:** we mean to meet it, and do not claim it.

\`npm run asvs\` writes this page from \`test/asvs.md\` and compares it with the tests.
`

function chapterTable(chapter: string, rows: readonly AsvsRow[]): string {
  const lines = rows.map(
    (row) =>
      `| ${row.id} | ${row.level} | ${cell(row.requirement)} | ${row.owner} | ${shownBy(row)} |`,
  )
  return [
    `## ${chapter} ${chapters[chapter] ?? ''}`.trim(),
    '',
    '| id | level | requirement | owner | shown by |',
    '| --- | --- | --- | --- | --- |',
    ...lines,
    '',
  ].join('\n')
}

const chapterOf = ({ id }: AsvsRow): string => `V${id.split('.')[0]}`

/** The page `docs/asvs.md`, from the table alone. */
export function asvsPage(table: AsvsTable): string {
  const named = table.rows.filter(({ by }) => 'file' in by).map(({ id }) => id)
  const { levels, others } = tally(table, named)
  const counts = [
    '| | rows | shown by a test |',
    '| --- | --- | --- |',
    ...levels.map(({ level, shown, all }) => `| level ${level} | ${all} | ${shown} |`),
    '',
    `Without a test: ${Object.entries(others)
      .map(([word, ids]) => `${ids.length} ${word}`)
      .join(', ')}.`,
    '',
  ].join('\n')
  const names = [...new Set(table.rows.map(chapterOf))]
  const sections = names.map((name) =>
    chapterTable(
      name,
      table.rows.filter((row) => chapterOf(row) === name),
    ),
  )
  return [intro, counts, ...sections].join('\n')
}
