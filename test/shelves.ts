import { readFileSync } from 'node:fs'
import { matchesGlob } from 'node:path'
import type { Surface } from '../src/ports/surface.js'

export type Framework = 'express' | 'express 4' | 'fastify' | 'koa' | 'koa 2' | 'fetch'
export type StoreName =
  | 'memory'
  | 'two memories'
  | 'postgres'
  | 'redis'
  | 'mongo'
  | 'mariadb'
  | 'sqlite'

/** A framework, and what stores the library's documents behind it. */
export type Host = readonly [framework: Framework, store: StoreName]

/** What the suites of `support/hosts/matrix.ts` run on. */
export interface Cells {
  readonly surfaces: readonly Surface[]
  readonly hosts: readonly Host[]
  readonly frameworks: readonly Host[]
  readonly stores: readonly Host[]
  readonly sampleStores: readonly Host[]
}

const both = ['operator', 'client'] as const
const memory = [['express', 'memory']] as const

const all: Cells = {
  surfaces: both,
  hosts: [
    ...memory,
    ['fastify', 'postgres'],
    ['koa', 'redis'],
    ['fetch', 'mongo'],
    ['express 4', 'two memories'],
  ],
  frameworks: (['express', 'express 4', 'fastify', 'koa', 'koa 2', 'fetch'] as const).map(
    (framework) => [framework, 'memory'] as const,
  ),
  stores: (['memory', 'postgres', 'redis', 'mongo', 'mariadb', 'sqlite'] as const).map(
    (store) => ['express', store] as const,
  ),
  sampleStores: [...memory, ['express', 'postgres']],
}

const isElsewhere = ([framework, store]: Host): boolean =>
  framework !== 'express' || store !== 'memory'

/** What each shelf runs the same suites on: the matrix of surfaces, frameworks and stores. */
export const cells = {
  fast: {
    surfaces: ['operator'],
    hosts: memory,
    frameworks: memory,
    stores: memory,
    sampleStores: memory,
  },
  stores: {
    surfaces: ['client'],
    hosts: all.hosts.filter(isElsewhere),
    frameworks: all.frameworks.filter(isElsewhere),
    stores: all.stores.filter(isElsewhere),
    sampleStores: all.sampleStores.filter(isElsewhere),
  },
  browser: all,
  all,
} as const satisfies Readonly<Record<string, Cells>>

export type Shelf = keyof typeof cells

/** Throws for a name that is no shelf's. */
export function shelfNamed(name: string): Shelf {
  const known = Object.keys(cells).find((shelf): shelf is Shelf => shelf === name)
  if (known === undefined) throw new Error(`SHELF is one of ${Object.keys(cells).join(', ')}`)
  return known
}

/** Tests that drive Chromium, by the folders and names that they share. */
const browser = [
  'test/client/{front-end,passkeys,tabs}-browser.test.ts',
  'test/contract/http/browser.test.ts',
  'test/contract/passkeys/browser-passkeys.test.ts',
  'test/mails/mails-in-a-browser.test.ts',
  'test/package/browser-config.test.ts',
  'test/react/react-browser.test.ts',
  'test/examples/console/**',
  'test/contract/oauth/browser-paths.test.ts',
  'test/docs/{page-flaws,site}.test.ts',
]

/** Tests of stores that need a server or the program of one, and the whole conformance kit on those that need none. */
const stores = [
  'test/adapters/{mariadb,mongo,postgres,redis}*.test.ts',
  'test/adapters/{inspection,sqlite}.test.ts',
  'test/adapters/sql/planted-stores.test.ts',
  'test/cli/import/{table-import,*/{authjs,better-auth,supabase,supertokens}-import}.test.ts',
  'test/cli/doctor/doctor-command.test.ts',
  'test/contract/http/frameworks-alike.test.ts',
  'test/contract/storage/{store-outages,stored-data,every-operation,host-constraints}.test.ts',
  'test/docs/orm-page.test.ts',
  'test/domain/sweep/sweeper-postgres.test.ts',
  'test/setup/require-prepared.test.ts',
  'test/stores/grouped-find.test.ts',
]

/** A sign-in, a passkey, tabs and the console in a browser. */
const browserSmoke = [
  'test/client/{front-end,passkeys}-browser.test.ts',
  'test/contract/http/browser.test.ts',
  'test/examples/console/sign-in.test.ts',
]

/** Which tests in a browser show a change of these sources. */
export const shownInBrowser: readonly (readonly [sources: string, tests: string])[] = [
  ['examples/console/**', 'test/examples/console/**'],
  ['src/client/**', 'test/client/*browser*.test.ts'],
  ['src/react/**', 'test/react/*browser*.test.ts'],
  ['src/mails/**', 'test/mails/*browser*.test.ts'],
  ['src/{crypto,domain/passkeys}/**', 'test/contract/passkeys/*browser*.test.ts'],
  ['src/domain/oauth/**', 'test/contract/oauth/browser-paths.test.ts'],
]

/** The kit on every store, and suites that meet each store and framework once. */
const shortStores = [
  'test/adapters/{mariadb,mongo,pglite,postgres,postgres-named,redis,redis-cluster,sqlite}.test.ts',
  'test/adapters/{inspection,postgres-migrate,mariadb-migrate,mongo-prepare,redis-prepare}.test.ts',
  'test/contract/http/{edge,frameworks-alike,input-form,protected-routes}.test.ts',
  'test/contract/storage/{every-operation,store-outages}.test.ts',
  'test/contract/sessions/{refresh,session-ends,own-sessions}.test.ts',
  'test/contract/login/{lockout,first-and-second-factors,ways-in}.test.ts',
  'test/contract/config/{editing,record-list-edits}.test.ts',
  'test/contract/service-accounts/service-account-races.test.ts',
  'test/domain/sweep/sweeper-postgres.test.ts',
]

/** The fast shelf takes a sample of the cases of the kit, and of the inputs of a parser. */
const sampledCases = ['test/adapters/pglite.test.ts']
const sampledInputs = ['test/fuzz/**']

/**
 * A suite that plays on several surfaces, frameworks or stores belongs to the stores shelf as well, whose cells are those
 * that the fast shelf has not.
 */
const playsElsewhere = /\beach(Surface|Host|Framework|Store|SampleStore)\b/
/** On one surface, it is quick on the other one too. */
const playsOnHosts = /\beach(Host|Framework|Store|SampleStore)\b/

/** Suites that take long. `npm run test:all` has them, and CI a share of them. */
const long = [
  // Processes, outages, and clocks of machines.
  'test/reliability/**',
  'test/{simulation,lockstep}/**',
  'test/model/**',
  // What builds, packs, installs or starts something.
  'test/package/**',
  'test/examples/**',
  'test/cli/init/init-host.test.ts',
  'test/cli/{keys/key*,import/run/run-import,init/page-file}.test.ts',
  'test/instances.test.ts',
  'test/docs/{code-blocks,quickstarts,testing-page,tutorial}.test.ts',
  'test/planted/try-plants.test.ts',
  'test/openapi/tools.test.ts',
  'test/tools/{bench-redis,client-types,counted-blocks,lint}.test.ts',
  // A page that is open for hours.
  'test/client/passkey-autofill.test.ts',
  // What reads or parses all sources.
  'test/boundaries.test.ts',
  'test/security/{expressions,threat-model}.test.ts',
  // What plants mistakes itself, or runs every cell of a large table.
  'test/adapters/wrong-adapters.test.ts',
  'test/contract/storage/{failing-ports,refusals-of-every-route}.test.ts',
  'test/contract/settings/flips.test.ts',
  'test/identity-providers/stand-ins.test.ts',
  'test/security/doors-and-switches.test.ts',
  'test/security/advisories/processes.test.ts',
]

const matches = (file: string, globs: readonly string[]): boolean =>
  globs.some((glob) => matchesGlob(file, glob))

/** Whether the shelf runs a test file, given by its path below the repository; `isShort` asks of its short form. */
export function isOnShelf(shelf: Shelf, file: string, isShort = false): boolean {
  if (shelf === 'all') return true
  if (shelf === 'browser') return matches(file, isShort ? browserSmoke : browser)
  if (matches(file, browser) || matches(file, long)) return false
  const isOfStores = matches(file, stores)
  if (shelf === 'fast') return !isOfStores
  if (isShort && matches(file, shortStores)) return true
  if (!isShort && (isOfStores || matches(file, sampledCases))) return true
  const source = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')
  return playsElsewhere.test(source) && !(isShort && playsOnHosts.test(source))
}

/** Whether `test:all` plays more of a file than the fast shelf does. */
export function isCutShort(file: string): boolean {
  if (!isOnShelf('fast', file) || matches(file, [...sampledCases, ...sampledInputs])) return true
  return playsElsewhere.test(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8'))
}

/** Files that do not share the modules of their process with others, and why. */
export const isolated: readonly (readonly [glob: string, reason: string])[] = [
  [
    'test/contract/http/deprecated-operations.test.ts',
    'replaces the module of the operation table',
  ],
]
