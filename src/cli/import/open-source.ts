import { resolve } from 'node:path'
import type { Call } from '../frame/command.js'
import { Refusal } from '../frame/refusal.js'
import { authjsSource } from './authjs/authjs-source.js'
import { betterAuthSecrets } from './better-auth/better-auth-secrets.js'
import { betterAuthSource } from './better-auth/better-auth-source.js'
import { csvSource } from './csv/csv-source.js'
import { openSourceDatabase } from './databases/open-source-database.js'
import type { SourceDatabase } from './databases/source-database.js'
import { firebaseSource } from './firebase/firebase-source.js'
import { carryRules, neededFlag, textFlag } from './read-flags.js'
import { type ColumnMap, columnMap } from './rows/column-map.js'
import type { Source } from './rows/import-source.js'
import { uuid } from './rows/old-id.js'
import { supabaseSource } from './supabase/supabase-source.js'
import { supertokensSource } from './supertokens/supertokens-source.js'
import { tableSource } from './table-source.js'

type Opener = (call: Call, surface: string) => Promise<Source>

const sources: Readonly<Record<string, Opener>> = {
  csv: openCsv,
  table: openTable,
  firebase: openFirebase,
  'better-auth': openBetterAuth,
  supabase: openSupabase,
  authjs: openAuthjs,
  supertokens: openSupertokens,
}

/** The source that the words of the call name. Throws `Refusal` for others. */
export function openSource(call: Call, surface: string): Promise<Source> {
  const [word = '', ...more] = call.words
  const open = Object.hasOwn(sources, word) ? sources[word] : undefined
  if (open !== undefined && more.length === 0) return open(call, surface)
  throw new Refusal(`Say one of: postern import ${Object.keys(sources).join(', ')}.`, 2)
}

function openCsv(call: Call, surface: string): Promise<Source> {
  const file = neededFlag(call, 'file', 'csv')
  const delimiters = new Map([',', ';', '|'].map((one) => [one, one]))
  const delimiter = delimiters.set('tab', '\t').get(textFlag(call, 'delimiter') ?? ',')
  if (delimiter === undefined) throw new Refusal('--delimiter must be one of , ; | tab.', 2)
  const columns = columnsOf(call, 'csv', surface)
  return csvSource({ path: resolve(call.cwd, file), delimiter, columns })
}

function openFirebase(call: Call, surface: string): Promise<Source> {
  const path = resolve(call.cwd, neededFlag(call, 'file', 'firebase'))
  return firebaseSource({ path, rules: carryRules(call), space: surface })
}

async function openTable(call: Call, surface: string): Promise<Source> {
  const table = neededFlag(call, 'table', 'table')
  const columns = columnsOf(call, `table ${table}`, surface)
  const key = textFlag(call, 'key') ?? 'id'
  return onDatabase(call, (database) => tableSource(database, { table, key, columns }))
}

async function openBetterAuth(call: Call, surface: string): Promise<Source> {
  const options = {
    secrets: betterAuthSecrets(call),
    rules: carryRules(call),
    space: surface,
    now: call.now,
  }
  return onDatabase(call, (database) => betterAuthSource(database, options))
}

async function openSupabase(call: Call, surface: string): Promise<Source> {
  const options = { rules: carryRules(call), space: surface, now: call.now }
  return onDatabase(call, (database) => supabaseSource(database, options))
}

async function openAuthjs(call: Call, surface: string): Promise<Source> {
  const isVerified = call.flags['verified'] === true
  const options = { rules: carryRules(call), space: surface, isVerified }
  return onDatabase(call, (database) => authjsSource(database, options))
}

async function openSupertokens(call: Call, surface: string): Promise<Source> {
  const microsoftTenant = textFlag(call, 'microsoft-tenant')?.toLowerCase() ?? null
  if (microsoftTenant !== null && !uuid.test(microsoftTenant)) {
    throw new Refusal('--microsoft-tenant must be the id of a directory, a UUID.', 2)
  }
  const options = {
    ...{ rules: carryRules(call), space: surface, microsoftTenant },
    app: textFlag(call, 'app-id') ?? 'public',
    tenant: textFlag(call, 'tenant-id') ?? 'public',
    isVerified: call.flags['verified'] === true,
  }
  return onDatabase(call, (database) => supertokensSource(database, options))
}

function columnsOf(call: Call, source: string, surface: string): ColumnMap {
  return columnMap({
    map: neededFlag(call, 'map', source.split(' ')[0] ?? ''),
    hash: textFlag(call, 'hash'),
    verified: call.flags['verified'] === true,
    space: `${surface} ${source}`,
    rules: carryRules(call),
  })
}

/** The source closes the database; where there is none, it is closed here. */
async function onDatabase(
  call: Call,
  sourceOf: (database: SourceDatabase) => Promise<Source>,
): Promise<Source> {
  const database = await openSourceDatabase(call)
  try {
    return await sourceOf(database)
  } catch (error) {
    await database.close()
    throw error
  }
}
