import type { Child } from '../harness/child.js'
import type { Context } from '../harness/context.js'
import { inRounds, type Series } from '../harness/rounds.js'
import { spreadText } from '../harness/statistics.js'
import type { Figure, Suite, SuiteTable } from '../harness/suite.js'

const small = 'thousand'
const big = 'million'
const bareRead = 'user by id, by the driver alone'

interface Store {
  readonly name: 'Postgres' | 'Redis'
  readonly operations: readonly string[]
  readonly sizes: ReadonlyMap<string, Child<readonly string[]>>
}

export const growth: Suite = {
  name: 'growth',
  title: 'A thousand rows and a million',
  goals: ['P11'],
  async run(context) {
    const tables: SuiteTable[] = []
    const figures: Figure[] = []
    for (const name of ['Postgres', 'Redis'] as const) {
      const store = await openStore(context, name)
      if (store === null) {
        figures.push({ goal: 'P11', what: `operations on ${name}`, values: [], atMost: 1.25 })
        continue
      }
      const series = await measureStore(context, store)
      tables.push(tableOf(store, series))
      if (!context.smoke) figures.push(...figuresOf(store, series))
      if (name === 'Postgres') figures.push(await scanFigure(context, store))
      for (const child of store.sizes.values()) await child.stop()
    }
    return { tables, figures }
  },
}

async function openStore(context: Context, name: Store['name']): Promise<Store | null> {
  const sizes = new Map<string, Child<readonly string[]>>()
  for (const [size, rows] of Object.entries({ [small]: 1000, [big]: 1_000_000 })) {
    const database = name === 'Postgres' ? await context.database() : null
    const keys = name === 'Redis' ? await context.redis() : null
    if (database === null && keys === null) return null
    context.progress(`filling ${name} with a ${size} rows`)
    const child = await context.start<readonly string[]>('growth-child.mjs', {
      postgres: database?.url ?? null,
      redis: keys && { url: keys.url, prefix: keys.prefix },
      key: context.key,
      rows: context.smoke ? Math.ceil(rows / 10_000) : rows,
    })
    sizes.set(size, child)
  }
  return { name, sizes, operations: sizes.get(big)?.ready ?? [] }
}

/** Both sizes in turn, one operation after the other. */
function measureStore(context: Context, { name, sizes, operations }: Store): Promise<Series> {
  return inRounds({
    rounds: context.rounds,
    slices: context.smoke ? 1 : 3,
    contenders: operations.flatMap((operation) => [
      `${operation}, ${small}`,
      `${operation}, ${big}`,
    ]),
    async measure(contender) {
      const cut = contender.lastIndexOf(', ')
      const child = sizes.get(contender.slice(cut + 2))
      const given = { operation: contender.slice(0, cut), calls: context.requests(50) }
      return { time: (await child?.ask<number>('measure', given)) ?? Number.NaN }
    },
    progress: (text) => context.progress(`${name}, ${text}`),
  })
}

function tableOf({ name, operations }: Store, series: Series): SuiteTable {
  const rows = operations.map((operation) => [
    operation,
    spreadText(series.values('time', `${operation}, ${small}`)),
    spreadText(series.values('time', `${operation}, ${big}`)),
  ])
  const note =
    name === 'Postgres'
      ? 'A million sessions, refresh families, audit records, counters and entries of the denylist, and a ' +
        'quarter of a million users. Each figure is the middle of fifty calls, the least of three in each ' +
        'round. MongoDB is not measured: what stands in for it here has no planner to ask.'
      : 'A million refresh families and entries of the denylist, and a quarter of a million users and sessions, ' +
        'because a row takes 1.7 KB there.'
  return {
    title: `Postern on ${name}, one call at a time`,
    head: ['call', 'a thousand, µs', 'a million, µs'],
    rows,
    note,
  }
}

function figuresOf({ name, operations }: Store, series: Series): readonly Figure[] {
  return operations.map((operation) => ({
    goal: 'P11',
    what: `${operation} on ${name}, a million over a thousand`,
    values: series.ratios('time', `${operation}, ${big}`, `${operation}, ${small}`),
    // The driver's own is there to compare with.
    ...(operation === bareRead ? {} : { atMost: 1.25, why: 'memory of the machine' as const }),
  }))
}

async function scanFigure(context: Context, { sizes }: Store): Promise<Figure> {
  const scans = (await sizes.get(big)?.ask<readonly string[]>('scans')) ?? []
  for (const scan of scans) context.progress(`reads too much: ${scan}`)
  const what = 'statements on Postgres that read or sort a whole table'
  return { goal: 'P11', what, values: [scans.length], atMost: 0 }
}
