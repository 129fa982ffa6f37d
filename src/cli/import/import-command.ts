import { realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Call, Command } from '../frame/command.js'
import { Refusal } from '../frame/refusal.js'
import { withAuth } from '../frame/with-auth.js'
import { openSource } from './open-source.js'
import { carryRules, textFlag } from './read-flags.js'
import type { Source } from './rows/import-source.js'
import { dryRunReport } from './run/kept-bytes.js'
import { type ImportOutcome, type ImportRun, runImport } from './run/run-import.js'

export const importCommand: Command = {
  help: `Usage: postern import csv --file FILE --map email=mail,passwordHash=pwd
       postern import table --table users --key id --map email,…
       postern import better-auth | supabase | authjs | supertokens
       postern import firebase | keycloak | auth0 --file FILE --hashes FILE

Makes accounts of another product's users, with their password hashes. Run it
again after an interruption: it goes on where it was. docs/import.md has all.

  --dry-run         judges every row as the import would, and writes no account
  --surface NAME    client (default) or operator; --space N keeps old ids apart
  --map A=B,…       targets and their columns; --hash 'a{column}b' builds a hash
  --delimiter C     of the file: , (default) ; | or tab; --null TEXT: no value
  --verified        every address counts as verified
  --role A=B        role A of the source becomes systemRole B; several: A=B,C=D
  --app-id, --tenant-id, --microsoft-tenant  of SuperTokens (default public)
  --drop-second-factors  takes accounts without a factor that cannot be carried;
                    otherwise such a row is refused
  --report FILE     a line for each row that was refused, in conflict or not
                    carried in full; default postern-import-report.jsonl
  --ids FILE        a line {from, to} with the old and new id of each account
  --progress FILE   default postern-import.json; --restart begins from the start
  --batch N         rows of a call, 1 to 10000 (default 500)

POSTERN_SOURCE_URL names the database to read, BETTER_AUTH_SECRET its secret.`,
  flags: {
    file: { type: 'string' },
    hashes: { type: 'string' },
    delimiter: { type: 'string' },
    table: { type: 'string' },
    key: { type: 'string' },
    map: { type: 'string' },
    null: { type: 'string', multiple: true },
    hash: { type: 'string' },
    verified: { type: 'boolean' },
    role: { type: 'string' },
    'app-id': { type: 'string' },
    'tenant-id': { type: 'string' },
    'microsoft-tenant': { type: 'string' },
    'drop-second-factors': { type: 'boolean' },
    space: { type: 'string' },
    surface: { type: 'string' },
    'dry-run': { type: 'boolean' },
    report: { type: 'string' },
    ids: { type: 'string' },
    progress: { type: 'string' },
    restart: { type: 'boolean' },
    batch: { type: 'string' },
  },
  async run(call) {
    const surface = surfaceOf(call)
    const settled = { ...settledOf(call), surface }
    await refuseOneFileTwice(call, settled)
    const source = await openSource(call, surface)
    try {
      return await importFrom(call, source, settled)
    } finally {
      await source.close()
    }
  },
}

type Settled = Omit<ImportRun, 'source' | 'importUsers'> & {
  readonly surface: 'client' | 'operator'
}

function surfaceOf(call: Call): Settled['surface'] {
  const surface = textFlag(call, 'surface') ?? 'client'
  if (surface === 'client' || surface === 'operator') return surface
  throw new Refusal('--surface must be client or operator.', 2)
}

function settledOf(call: Call): Omit<Settled, 'surface'> {
  const dryRun = call.flags['dry-run'] === true
  const batch = textFlag(call, 'batch') ?? '500'
  if (!/^[1-9]\d{0,4}$/.test(batch) || Number(batch) > 10_000) {
    throw new Refusal('--batch must be a whole number from 1 to 10000.', 2)
  }
  const path = (name: string, usual: string) => resolve(call.cwd, textFlag(call, name) ?? usual)
  const report = dryRun ? dryRunReport : 'postern-import-report.jsonl'
  return {
    dryRun,
    batchSize: Number(batch),
    allowRoles: [...carryRules(call).roles.values()],
    files: {
      progress: path('progress', 'postern-import.json'),
      report: path('report', report),
      ids: textFlag(call, 'ids') === null ? null : path('ids', ''),
    },
    restart: call.flags['restart'] === true,
    tell: call.err,
    now: call.now,
  }
}

/** Each is cut to what a run left in it: a report in the place of the source would empty that. */
async function refuseOneFileTwice(call: Call, { files }: Settled) {
  const read = ['file', 'hashes'].map((name) => textFlag(call, name))
  const source = read.flatMap((file) => (file === null ? [] : [resolve(call.cwd, file)]))
  const given = [...source, files.report, files.progress, files.ids].filter((path) => path !== null)
  // One file may have several names. A file that is not there yet has one.
  const paths = await Promise.all(given.map((path) => realpath(path).catch(() => path)))
  if (new Set(paths).size === paths.length) return
  throw new Refusal(
    '--file, --hashes, --report, --ids and --progress must name different files.',
    2,
  )
}

async function importFrom(call: Call, source: Source, settled: Settled): Promise<number> {
  const outcome = await withAuth(call, await call.config(), (auth) => {
    const { users } = auth[settled.surface]
    return runImport({ ...settled, source, importUsers: users.import })
  })
  const { report } = settled.files
  if (outcome.rows === 0) {
    call.err('The source has no users. Is it the right file, database, schema or tenant?')
  }
  if (call.json) call.out(JSON.stringify({ ...outcome, dryRun: settled.dryRun, report }))
  else for (const line of summaryOf(outcome, settled)) call.out(line)
  return outcome.refused + outcome.conflicts > 0 ? 1 : 0
}

function summaryOf(outcome: ImportOutcome, { dryRun, files }: Settled): readonly string[] {
  const { rows, created, skipped, emailDiffers, conflicts, refused, partly } = outcome
  const isReported = emailDiffers + conflicts + refused + partly > 0
  return [
    `${rows} rows${dryRun ? ', and nothing was written' : ''}`,
    `  ${created} ${dryRun ? 'would be created' : 'created'}`,
    `  ${skipped} there already`,
    ...(emailDiffers > 0 ? [`    ${emailDiffers} of them with another address`] : []),
    `  ${conflicts} in conflict with another account`,
    `  ${refused} refused`,
    `  ${partly} accounts of which something stays behind`,
    ...(isReported ? [`Which, and why: ${files.report}`] : []),
  ]
}
