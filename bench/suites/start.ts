import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Context } from '../harness/context.js'
import { installedSize } from '../harness/installed-size.js'
import { inRounds, type Measured, type Series } from '../harness/rounds.js'
import { rounded, spreadText } from '../harness/statistics.js'
import type { Figure, Suite, SuiteTable } from '../harness/suite.js'

const run = promisify(execFile)
const contenders = new URL('../contenders/', import.meta.url)
const script = fileURLToPath(new URL('start-process.mjs', contenders))
const peers = new URL('../node_modules/', import.meta.url)
const empty = 'empty process'
const ours = ['postern, import', 'postern, ready', 'postern, first reply']
const theirs = ['better-auth, import', 'better-auth, ready', 'better-auth, first reply']

/** A server on Express over Postgres, which is how the README shows each of them. */
const bundles = {
  postern: {
    postern: ['createAuth'],
    'postern/express': ['expressRouter', 'expressGuards'],
    'postern/postgres': ['postgres'],
  },
  'better-auth': {
    'better-auth': ['betterAuth'],
    'better-auth/node': ['toNodeHandler'],
  },
}

interface Sizes {
  readonly name: string
  /** All in bytes. */
  readonly minified: number
  readonly compressed: number
  readonly installed: number
}

export const start: Suite = {
  name: 'start',
  title: 'Starting a process',
  goals: ['P10', 'P16'],
  async run(context) {
    const given = await givenTo(context)
    const names = [empty, ...ours, ...(context.smoke ? [] : theirs)].filter(
      (name) => given !== null || !name.includes('first reply'),
    )
    for (const name of names) await startOf(context, name, given)
    const series = await inRounds({
      rounds: context.rounds,
      slices: context.smoke ? 1 : 3,
      contenders: names,
      measure: (name) => startOf(context, name, given),
      progress: context.progress,
    })
    if (context.smoke) return { tables: [startTable(series, names)], figures: [] }
    const sizes = await sizesOf(context)
    return {
      tables: [startTable(series, names), sizeTable(sizes)],
      figures: [...startFigures(series), ...sizeFigures(sizes)],
    }
  },
}

type Given = Readonly<Record<string, { readonly postgres: string; readonly credential: string }>>

/** Databases with one session in each; null where there is no Postgres. */
async function givenTo(context: Context): Promise<Given | null> {
  const [one, other] = [await context.database(), await context.database()]
  if (one === null || other === null) return null
  if (context.smoke) return { postern: await posternGiven(context, one.url) }
  const tools = await context.start('start-tools.mjs', null)
  const cookie = await tools.ask<string>('betterAuthSession', { postgres: other.url })
  await tools.stop()
  return {
    postern: await posternGiven(context, one.url),
    'better-auth': { postgres: other.url, credential: cookie },
  }
}

async function posternGiven(context: Context, postgres: string) {
  const child = await context.start<string>('start-session.mjs', { postgres, key: context.key })
  await child.stop()
  return { postgres, credential: child.ready }
}

async function startOf(context: Context, name: string, given: Given | null): Promise<Measured> {
  const [library = ''] = name.split(',')
  const words = [script, name, JSON.stringify({ key: context.key, ...given?.[library] })]
  const env = { ...process.env, NODE_ENV: 'production' }
  const { stdout } = await run(context.node, words, { env })
  const { ready, cpu, rss, construction } = JSON.parse(stdout)
  return {
    ready,
    cpu: cpu / 1000,
    rss: rss / 2 ** 20,
    ...(typeof construction === 'number' ? { construction } : {}),
  }
}

async function sizesOf(context: Context): Promise<readonly Sizes[]> {
  context.progress('bundles and sizes')
  const tools = await context.start('start-tools.mjs', null)
  const folders: Readonly<Record<string, string>> = {
    postern: fileURLToPath(new URL('../../', import.meta.url)),
    'better-auth': fileURLToPath(new URL('better-auth', peers)),
  }
  const sizes: Sizes[] = []
  for (const [name, imports] of Object.entries(bundles)) {
    const bundle = await tools.ask<Pick<Sizes, 'minified' | 'compressed'>>('bundleSizes', {
      imports,
    })
    sizes.push({ name, ...bundle, installed: installedSize(folders[name] ?? '') })
  }
  return sizes
}

function startTable(series: Series, names: readonly string[]): SuiteTable {
  const rows = names.map((name) => [
    name,
    ...['cpu', 'ready', 'rss', 'construction'].map((quantity) =>
      spreadText(series.values(quantity, name)),
    ),
  ])
  const head = ['start', 'CPU, ms', 'ready, ms', 'memory, MiB', 'construction, ms']
  const note =
    'From the start of the process. Ready is `createAuth` with both surfaces on Express, or `betterAuth` with ' +
    'its handler, each over its store in memory. The first reply is that of a protected Express route with ' +
    'Postgres behind it, the connection included; the tables are there before. The least of three starts ' +
    'in each round.'
  return { head, rows, note }
}

function sizeTable(sizes: readonly Sizes[]): SuiteTable {
  const rows = sizes.map(({ name, minified, compressed, installed }) => [
    name,
    kibibytes(minified),
    kibibytes(compressed),
    kibibytes(installed),
  ])
  const note =
    'Made one minified file by esbuild, and compressed by gzip: each library with its Express handler, and ' +
    'Postern with its Postgres store and the list of common passwords. Installed is the library alone with ' +
    'what it depends on.'
  const head = ['library', 'minified, KiB', 'compressed, KiB', 'installed, KiB']
  return { title: 'Sizes', head, rows, note }
}

const kibibytes = (bytes: number): string => rounded(bytes / 1024)

/** Over better-auth, each without what an empty process takes. */
function startFigures(series: Series): readonly Figure[] {
  const added = (quantity: string, what: string) =>
    series.addedRatios(quantity, `postern, ${what}`, `better-auth, ${what}`, empty)
  return [
    {
      goal: 'P10',
      what: 'time of the import over better-auth',
      values: added('ready', 'import'),
      atMost: 0.35,
    },
    { goal: 'P10', what: 'CPU of the import over better-auth', values: added('cpu', 'import') },
    {
      goal: 'P10',
      what: 'memory when ready over better-auth',
      values: added('rss', 'ready'),
      atMost: 0.65,
    },
    {
      goal: 'P10',
      what: 'construction over better-auth',
      values: series.ratios('construction', 'postern, ready', 'better-auth, ready'),
      why: 'construction',
      atMost: 1.5,
    },
    {
      goal: 'P16',
      what: 'first authenticated reply over better-auth',
      values: series.ratios('ready', 'postern, first reply', 'better-auth, first reply'),
      why: 'first reply',
      atMost: 0.5,
    },
    {
      goal: 'P16',
      what: 'CPU to the first authenticated reply over better-auth',
      values: series.ratios('cpu', 'postern, first reply', 'better-auth, first reply'),
    },
  ]
}

function sizeFigures(sizes: readonly Sizes[]): readonly Figure[] {
  const [own, peer] = sizes
  const goal = 'P10'
  const unit = 'KiB'
  const inKiB = (bytes: number | undefined) => (bytes === undefined ? [] : [bytes / 1024])
  const ratio = own && peer ? [own.installed / peer.installed] : []
  return [
    { goal, what: 'a whole host, compressed', values: inKiB(own?.compressed), unit, atMost: 1500 },
    {
      goal,
      what: 'installed size over better-auth',
      values: ratio,
      atMost: 1,
      why: 'what is installed',
    },
  ]
}
