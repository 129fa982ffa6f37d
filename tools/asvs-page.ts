import { type AsvsRow, type Ledger, standings } from './ledger.js'

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

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;')

type Entry = readonly [id: string, row: AsvsRow]

function shownBy(row: AsvsRow): string {
  return 'file' in row
    ? `\`${row.file}\`: ${cell(row.sentence)}`
    : `**${standings[row.standing]}:** ${cell(row.reason)}`
}

const intro = `# OWASP ASVS 5.0

The [Application Security Verification Standard](https://owasp.org/www-project-application-security-verification-standard/)
says what an application must do to be called secure at level 1, 2 or 3. This page goes through the rows that a library
for authentication can meet by itself (*library*) or together with its host (*shared*). Rows that are the host's alone,
such as TLS, and rows about things that the library does not have, such as SAML, are left out.

A row counts as shown when it names a test of this repository, which has to pass in the whole test run before a release.
The requirement stands here in a few words of our own; the standard has the full text. A row without a test says why:

- **void:** the thing it is about does not exist here.
- **deviation:** we do something else on purpose. [SECURITY.md](../SECURITY.md#deviations-from-asvs-50) has the reasons.
- **the host’s part:** the library takes no part in it, and the page named says what you have to do.
- **not yet:** we mean to meet it, and do not claim it.

\`npm run generate -- asvs\` writes this page from \`test/ledger.json\`; \`npm run ledger\` compares that with the tests.
`

function chapterTable(chapter: string, rows: readonly Entry[]): string {
  const lines = rows.map(
    ([id, row]) =>
      `| ${id} | ${row.level} | ${cell(row.requirement)} | ${row.owner} | ${shownBy(row)} |`,
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

/** Rows of the library and shared ones, with a test and in all; a host's row that a test shows as well is none of ours. */
function counts(entries: readonly Entry[]): string {
  const ours = entries.map(([, row]) => row).filter(({ owner }) => owner !== 'host')
  const levels = [1, 2, 3].map((level) => {
    const all = ours.filter((row) => row.level === level)
    return `| level ${level} | ${all.length} | ${all.filter((row) => 'file' in row).length} |`
  })
  const without = Object.entries(standings).map(([standing, word]) => {
    const rows = ours.filter((row) => 'standing' in row && row.standing === standing)
    return `${rows.length} ${word}`
  })
  return [
    '| | rows | shown by a test |',
    '| --- | --- | --- |',
    ...levels,
    '',
    `Without a test: ${without.join(', ')}.`,
    '',
  ].join('\n')
}

const chapterOf = (id: string): string => `V${id.split('.')[0]}`

/** The page `docs/asvs.md`, from the ledger alone. */
export function asvsPage({ asvs }: Pick<Ledger, 'asvs'>): string {
  const entries = Object.entries(asvs)
  const names = [...new Set(entries.map(([id]) => chapterOf(id)))]
  const sections = names.map((name) =>
    chapterTable(
      name,
      entries.filter(([id]) => chapterOf(id) === name),
    ),
  )
  return [intro, counts(entries), ...sections].join('\n')
}
