import { resolve } from 'node:path'
import type { Call } from '../frame/command.js'
import { Refusal } from '../frame/refusal.js'
import { authjsSource } from './authjs/authjs-source.js'
import { betterAuthSecrets } from './better-auth/better-auth-secrets.js'
import { betterAuthSource } from './better-auth/better-auth-source.js'
import { csvSource } from './csv/csv-source.js'
import { keysetPages } from './databases/keyset-pages.js'
import { openSourceDatabase } from './databases/open-source-database.js'
import type { SourceDatabase } from './databases/source-database.js'
import { firebaseSource } from './firebase/firebase-source.js'
import { auth0Source } from './json-files/auth0-source.js'
import { keycloakSource } from './json-files/keycloak-source.js'
import { carryRules, neededFlag, textFlag, textsFlag } from './read-flags.js'
import { type ColumnMap, columnMap } from './rows/column-map.js'
import type { Source } from './rows/import-source.js'
import { uuid } from './rows/old-id.js'
import { supabaseSource } from './supabase/supabase-source.js'
import { supertokensSource } from './supertokens/supertokens-source.js'

/** `space` keeps the ids of the source apart from those of others. */
type Opener = (call: Call, space: string) => Promise<Source>

const sources: Readonly<Record<string, Opener>> = {
  csv: openCsv,
  table: openTable,
  firebase: openFirebase,
  auth0: openAuth0,
  keycloak: openKeycloak,
  'better-auth': openBetterAuth,
  supabase: openSupabase,
  authjs: openAuthjs,
  supertokens: openSupertokens,
}

/** The source that the words of the call name. Throws `Refusal` for others. */
export async function openSource(call: Call, surface: string): Promise<Source> {
  const [word = '', ...more] = call.words
  const open = Object.hasOwn(sources, word) ? sources[word] : undefined
  if (open === undefined || more.length > 0) {
    throw new Refusal(`Say one of: postern import ${Object.keys(sources).join(', ')}.`, 2)
  }
  const name = textFlag(call, 'space')
  if (name === null) return open(call, surface)
  if (!/^[a-z0-9-]{1,32}$/.test(name)) {
    throw new Refusal('--space must be 1 to 32 characters of a-z, 0-9 and -.', 2)
  }
  const source = await open(call, `${surface}/${name}`)
  return { ...source, fingerprint: `${source.fingerprint}, space ${name}` }
}

function openCsv(call: Call, space: string): Promise<Source> {
  const file = neededFlag(call, 'file', 'csv')
  const delimiters = new Map([',', ';', '|'].map((one) => [one, one]))
  const delimiter = delimiters.set('tab', '\t').get(textFlag(call, 'delimiter') ?? ',')
  if (delimiter === undefined) throw new Refusal('--delimiter must be one of , ; | tab.', 2)
  const columns = columnsOf(call, 'csv', space)
  return csvSource({ path: resolve(call.cwd, file), delimiter, columns })
}

function openFirebase(call: Call, space: string): Promise<Source> {
  const path = resolve(call.cwd, neededFlag(call, 'file', 'firebase'))
  return firebaseSource({ path, rules: carryRules(call), space })
}

function openAuth0(call: Call, space: string): Promise<Source> {
  const path = resolve(call.cwd, neededFlag(call, 'file', 'auth0'))
  const hashes = textFlag(call, 'hashes')
  const beside = hashes === null ? null : resolve(call.cwd, hashes)
  return auth0Source({ path, hashes: beside, rules: carryRules(call), space })
}

function openKeycloak(call: Call, space: string): Promise<Source> {
  const path = resolve(call.cwd, neededFlag(call, 'file', 'keycloak'))
  return keycloakSource({ path, rules: carryRules(call), space })
}

async function openTable(call: Call, space: string): Promise<Source> {
  const table = neededFlag(call, 'table', 'table')
  const columns = columnsOf(call, `table ${table}`, space)
  const key = textFlag(call, 'key') ?? 'id'
  return onDatabase(call, (database) => tableSource(database, { table, key, columns }))
}

async function openBetterAuth(call: Call, space: string): Promise<Source> {
  const options = {
    secrets: betterAuthSecrets(call),
    rules: carryRules(call),
    space,
    now: call.now,
  }
  return onDatabase(call, (database) => betterAuthSource(database, options))
}

async function openSupabase(call: Call, space: string): Promise<Source> {
  const options = { rules: carryRules(call), space, now: call.now }
  return onDatabase(call, (database) => supabaseSource(database, options))
}

async function openAuthjs(call: Call, space: string): Promise<Source> {
  const isVerified = call.flags['verified'] === true
  const options = { rules: carryRules(call), space, isVerified }
  return onDatabase(call, (database) => authjsSource(database, options))
}

async function openSupertokens(call: Call, space: string): Promise<Source> {
  const microsoftTenant = textFlag(call, 'microsoft-tenant')?.toLowerCase() ?? null
  if (microsoftTenant !== null && !uuid.test(microsoftTenant)) {
    throw new Refusal('--microsoft-tenant must be the id of a directory, a UUID.', 2)
  }
  const options = {
    ...{ rules: carryRules(call), space, microsoftTenant },
    app: textFlag(call, 'app-id') ?? 'public',
    tenant: textFlag(call, 'tenant-id') ?? 'public',
    isVerified: call.flags['verified'] === true,
  }
  return onDatabase(call, (database) => supertokensSource(database, options))
}

function columnsOf(call: Call, source: string, space: string): ColumnMap {
  return columnMap({
    map: neededFlag(call, 'map', source.split(' ')[0] ?? ''),
    hash: textFlag(call, 'hash'),
    nulls: textsFlag(call, 'null'),
    verified: call.flags['verified'] === true,
    space: `${space} ${source}`,
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

export interface TableOptions {
  readonly table: string
  readonly key: string
  readonly columns: ColumnMap
}

/** The rows of a table or a view. Closes the database with itself. */
async function tableSource(
  database: SourceDatabase,
  { table, key, columns }: TableOptions,
): Promise<Source> {
  const present = await database.columns(table)
  if (present.length === 0) throw new Refusal(`There is no table ${table}.`, 2)
  if (!present.includes(key))
    throw new Refusal(`There is no column ${key} in ${table}: name one with --key.`, 2)
  const missing = columns.missing(present)
  if (missing.length > 0) {
    throw new Refusal(
      `There is no column ${missing.join(', ')} in ${table}. There are: ${present.join(', ')}.`,
      2,
    )
  }
  const wanted = [...new Set([key, ...columns.columns])]
  const pages = await keysetPages(database, { table, key, columns: wanted })
  return {
    fingerprint: `table ${table} of ${database.name} by ${key}`,
    total: pages.total,
    async page(after, size) {
      const { rows, cursor } = await pages.page(after, size)
      return {
        rows: rows.map((cells) => columns.toRow(String(cells[key]), (name) => cells[name])),
        cursor,
      }
    },
    close: () => database.close(),
  }
}
