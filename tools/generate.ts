import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { openApiDocument } from '../src/openapi/index.js'
import { operations } from '../src/operations/index.js'
import { operationOptions } from '../src/operations/operation.js'
import { authSettingDeclarations } from '../src/settings/settings.js'
import { loadLibrary } from '../test/lockstep/rigs.js'
import { clientTypes, formatted } from './api/client-calls.js'
import { contractChanges, contractEntries } from './api/contract.js'
import { countedBlocks } from './api/counted-blocks.js'
import { defaultHostFacts, renewed } from './api/default-host.js'
import { apiPages, publicTypes } from './api/public-types.js'
import { optionsPage, referencePage, withSettingsTables } from './api/reference.js'
import { asvsPage } from './asvs-page.js'
import { currentEvents, currentEventsPage } from './events.js'
import { readLedger } from './ledger.js'
import { assurancePage, storedRecords } from './release/records.js'
import { releaseSteps } from './release/release-steps.js'
import { documentOf, figuresOf } from './reliability.js'
import { storedResult } from './shelf-results.js'

const root = new URL('../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')
const write = (path: string, text: string): void => writeFileSync(new URL(path, root), text)

interface Options {
  readonly breaking: boolean
  /** The number of the owner's ruling that allows a change; null without. */
  readonly ruling: string | null
}

interface Target {
  readonly what: string
  /** The pages below `docs` that nobody writes by hand. */
  readonly pages?: readonly string[]
  /** Made only where it is named: it needs servers or a browser, or it writes nothing that is committed. */
  readonly isAsked?: true
  run(options: Options): void | Promise<void>
}

function node(...args: readonly string[]): void {
  const { status } = spawnSync(process.execPath, args, {
    cwd: fileURLToPath(root),
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}`)
}

/** What only tests can make: they need vitest around them, or the servers and the browser of the tests. */
function byTest(variable: string, value: string, ...files: readonly string[]): void {
  process.env[variable] = value
  process.env['SHELF'] = 'all'
  node('node_modules/vitest/vitest.mjs', 'run', '--reporter=default', ...files)
}

/** The document of a host that set every option. */
const everything = () => openApiDocument({ surfaceOptions: operationOptions })

/** Renews the contract snapshot; a change that callers would notice has to be asked for. */
function writeContract(mayBreak: boolean): void {
  const file = 'test/openapi/contract.txt'
  const after = contractEntries(operations, everything())
  const { broken, added } = contractChanges(read(file).split('\n').filter(Boolean), after)
  for (const entry of broken) console.error(entry)
  if (broken.length > 0 && !mayBreak) {
    throw new Error('Callers would notice, so it is not written. --breaking writes it all the same')
  }
  write(file, `${after.join('\n')}\n`)
  console.log(`${file}: ${after.length} entries, ${added.length} of them new`)
}

/** Renews what a default host shows; a change has to name the ruling that allows it. */
async function writeDefaultHost(ruling: string | null): Promise<void> {
  const file = 'test/default-host.golden.txt'
  const facts = await defaultHostFacts(await loadLibrary(fileURLToPath(root)), currentEvents())
  write(file, `${renewed(read(file).split('\n').filter(Boolean), facts, ruling).join('\n')}\n`)
}

function writeApi(): void {
  const folder = new URL('test/package/api/', root)
  const pages = apiPages(publicTypes())
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  for (const [name, text] of pages) writeFileSync(new URL(name, folder), text)
}

function printCounts(): void {
  for (const { name, page, lines, most } of countedBlocks()) {
    console.log(`${String(lines).padStart(4)} of ${most}  ${name} (docs/${page})`)
    if (lines > most) process.exitCode = 1
  }
}

export const targets: Readonly<Record<string, Target>> = {
  reference: {
    what: 'docs/reference.md and docs/options.md, from the operation table and src/options.ts',
    pages: ['reference.md', 'options.md'],
    run() {
      write('docs/reference.md', referencePage(operations, everything()))
      write('docs/options.md', optionsPage(read('src/options.ts'), authSettingDeclarations))
    },
  },
  settings: {
    what: 'the tables of docs/settings.md, from the declarations',
    run: () => write('docs/settings.md', withSettingsTables(read('docs/settings.md'))),
  },
  events: {
    what: 'docs/events.md, from the types of the events and what is done with them',
    pages: ['events.md'],
    run: () => write('docs/events.md', currentEventsPage()),
  },
  pathways: {
    what: 'docs/pathways.md, from the table of ways in that the tests walk',
    pages: ['pathways.md'],
    run: () => byTest('PATHWAYS', 'write', 'test/docs/pathways-page.test.ts'),
  },
  asvs: {
    what: 'docs/asvs.md, from test/ledger.json',
    pages: ['asvs.md'],
    run: () => write('docs/asvs.md', asvsPage(readLedger())),
  },
  reliability: {
    what: 'docs/reliability.md, with the figures that it has; test:long measures them',
    pages: ['reliability.md'],
    run: () => write('docs/reliability.md', documentOf(figuresOf(read('docs/reliability.md')))),
  },
  seconds: {
    what: 'test/slow-files.json, from the last run of test:all',
    isAsked: true,
    run() {
      const result = storedResult('all')
      if (result === null) throw new Error('npm run test:all has to run first')
      const slow = Object.entries(result.files).filter(([, seconds]) => seconds >= 8)
      const rounded = slow.toSorted().map(([file, seconds]) => [file, Math.round(seconds)])
      write('test/slow-files.json', `${JSON.stringify(Object.fromEntries(rounded), null, 2)}\n`)
    },
  },
  assurance: {
    what: 'docs/assurance.md, from tools/release/results',
    pages: ['assurance.md'],
    run: () => write('docs/assurance.md', assurancePage(storedRecords(), releaseSteps)),
  },
  performance: {
    what: 'docs/performance.md, from bench/results',
    pages: ['performance.md'],
    run: () => node('--import', './test/support/module-hooks.mjs', 'bench/main.ts', '--page'),
  },
  'client-types': {
    what: 'the types of the calls and codes of the client, below src/client',
    run() {
      mkdirSync(new URL('src/client/calls/', root), { recursive: true })
      for (const [name, text] of clientTypes(operations, everything())) {
        write(`src/client/${name}`, formatted(`src/client/${name}`, text))
      }
    },
  },
  contract: {
    what: 'test/openapi/contract.txt: what callers rely on; --breaking where they would notice',
    run: ({ breaking }) => writeContract(breaking),
  },
  'default-host': {
    what: 'test/default-host.golden.txt: what a default host shows; --ruling <n> where a ruling changes it',
    run: ({ ruling }) => writeDefaultHost(ruling),
  },
  api: { what: 'test/package/api: the public types of every subpath', run: writeApi },
  counts: {
    what: 'prints the lines that a reader of the docs has to write for the usual things',
    isAsked: true,
    run: printCounts,
  },
  goldens: {
    what: 'test/package/goldens: the rows of every store; needs every server',
    isAsked: true,
    run: () => byTest('GOLDENS', 'write', 'test/package/goldens'),
  },
  screenshots: {
    what: 'pictures of the console, into .results/screenshots; needs Chromium',
    isAsked: true,
    run: () => byTest('SCREENSHOTS', '.results/screenshots', 'test/examples/console'),
  },
  'contact-sheets': {
    what: 'every page of the site and of the console, twelve a sheet, into .results/contact-sheets; needs Chromium',
    isAsked: true,
    run() {
      const folder = '.results/contact-sheets'
      rmSync(new URL(folder, root), { recursive: true, force: true })
      const pages = ['test/docs/site.test.ts', 'test/examples/console/every-page.test.ts']
      byTest('CONTACT_SHEETS', folder, ...pages)
    },
  },
}

/** Those that are named; without names, all that need no servers. Throws for a name that is no target's. */
export function chosenTargets(names: readonly string[]): readonly (readonly [string, Target])[] {
  const unknown = names.filter((name) => !Object.hasOwn(targets, name))
  if (unknown.length > 0) {
    throw new Error(`no ${unknown.join(', ')}; there are ${Object.keys(targets).join(', ')}`)
  }
  return Object.entries(targets).filter(([name, { isAsked }]) =>
    names.length === 0 ? !isAsked : names.includes(name),
  )
}

async function main(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      list: { type: 'boolean', default: false },
      breaking: { type: 'boolean', default: false },
      ruling: { type: 'string' },
    },
  })
  const { list, breaking, ruling = null } = values
  if (list) {
    for (const [name, { what, isAsked }] of Object.entries(targets)) {
      console.log(`${name.padEnd(14)} ${what}${isAsked ? ' (only where it is named)' : ''}`)
    }
    return
  }
  if (ruling !== null && !/^\d+$/.test(ruling)) throw new Error('--ruling takes a number')
  for (const [, target] of chosenTargets(positionals)) await target.run({ breaking, ruling })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2))
