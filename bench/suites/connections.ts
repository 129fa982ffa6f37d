import type { Child } from '../harness/child.js'
import type { Context } from '../harness/context.js'
import { holdingProxy } from '../harness/holding-proxy.js'
import { type HttpClient, httpClient, requestBytes } from '../harness/http-client.js'
import { inRounds, type Measured, type Series } from '../harness/rounds.js'
import { quantile, spreadText } from '../harness/statistics.js'
import type { Figure, Suite, SuiteTable } from '../harness/suite.js'

interface Served {
  readonly port: number
  readonly headers: Readonly<Record<string, string>>
}

interface Route {
  readonly child: Child<Served>
  readonly client: HttpClient
  readonly request: Buffer
}

const none = 'no check'
const guarded = 'denylist on Postgres'
const healthy = 'ten connections'
const oneDead = 'one of ten never answers'

/** What a protected route's callers wait for: at half load, and when a connection dies unnoticed. */
export const connections: Suite = {
  name: 'connections',
  title: 'Waiting times',
  goals: ['P18', 'P19'],
  async run(context) {
    const load = await halfLoad(context)
    const dead = await deadConnection(context)
    return { tables: [load.table, dead.table], figures: [load.figure, ...dead.figures] }
  },
}

async function routeOf(context: Context, check: string, url?: string): Promise<Route> {
  const given = { framework: 'fastify', check, key: context.key, url }
  const child = await context.start<Served>('guard.mjs', given)
  const { port, headers } = child.ready
  return { child, client: httpClient(port), request: requestBytes('GET', '/me', headers) }
}

async function capacityOf(context: Context, { client, request }: Route): Promise<number> {
  const requests = context.requests(3000)
  const { seconds } = await client.slice({ requests, connections: 64, next: () => request })
  return requests / seconds
}

/** Requests come twice as far apart as the guarded route needs them to, answered or not. */
async function halfLoad(context: Context): Promise<{ table: SuiteTable; figure: Figure }> {
  const database = await context.database()
  if (database === null) return { table: loadTable(null), figure: loadFigure(null) }
  const limited = await routeOf(context, 'postern postgres', database.url)
  const routes = new Map([
    [none, await routeOf(context, 'none')],
    [guarded, limited],
  ])
  for (const route of routes.values()) await capacityOf(context, route)
  const rate = Math.max(10, (await capacityOf(context, limited)) / 2)
  context.progress(`half load is ${Math.round(rate)} requests a second`)
  const series = await inRounds({
    rounds: context.rounds,
    contenders: [...routes.keys()],
    async measure(name): Promise<Measured> {
      const route = routes.get(name)
      if (route === undefined) return {}
      const trip = await limited.child.ask<number>('roundTrip', { reads: context.requests(200) })
      const times = await paced(route, context.requests(Math.round(rate * 2)), rate)
      return { p50: quantile(times, 0.5), p99: quantile(times, 0.99), trip }
    },
    progress: context.progress,
  })
  for (const { client, child } of routes.values()) {
    client.close()
    await child.stop()
  }
  return { table: loadTable(series), figure: loadFigure(series) }
}

function loadFigure(series: Series | null): Figure {
  const added = series?.added('p99', guarded, none) ?? []
  const trips = series?.values('trip', guarded) ?? []
  return {
    goal: 'P18',
    what: 'p99 at half load, above that without a check and two round trips to Postgres',
    values: added.map((value, round) => value - 2 * (trips[round] ?? 0)),
    unit: 'ms',
    atMost: 5,
  }
}

function loadTable(series: Series | null): SuiteTable {
  const of = (quantity: string, name: string) => spreadText(series?.values(quantity, name) ?? [])
  return {
    title: 'At half load',
    head: ['route', 'p50 ms', 'p99 ms', 'a round trip to Postgres, ms'],
    rows: [none, guarded].map((name) => [
      name,
      of('p50', name),
      of('p99', name),
      of('trip', guarded),
    ]),
    note:
      'Both routes get half of the requests a second that the guarded one answers at most. A request is sent when it ' +
      'is due, whatever became of those before it, and its time counts from then.',
  }
}

/** The times of requests that were answered with 200. Others are counted by `refused`. */
async function paced(
  { client, request }: Route,
  requests: number,
  rate: number,
  refused: () => void = () => {
    throw new Error('a request was refused')
  },
): Promise<readonly number[]> {
  const failed = new Set<number>()
  const times = await client.paced({
    requests,
    rate,
    next: () => request,
    seen({ status }, index) {
      if (status === 200) return
      failed.add(index)
      refused()
    },
  })
  return times.filter((_, index) => !failed.has(index))
}

async function deadConnection(
  context: Context,
): Promise<{ table: SuiteTable; figures: readonly Figure[] }> {
  const database = await context.database()
  if (database === null) return { table: deadTable(null), figures: deadFigures(null) }
  const proxy = await holdingProxy(database.url)
  context.atEnd(() => proxy.close())
  const route = await routeOf(context, 'postern postgres', proxy.url)
  await capacityOf(context, route)
  const series = await inRounds({
    rounds: context.rounds,
    contenders: [healthy, oneDead],
    async measure(name): Promise<Measured> {
      let refused = 0
      if (name === oneDead) proxy.holdNext()
      const count = () => {
        refused += 1
      }
      const times = await paced(route, context.requests(2000), 400, count)
      if (name === oneDead && !proxy.isHolding()) throw new Error('no connection was held')
      proxy.release()
      return { p50: quantile(times, 0.5), p99: quantile(times, 0.99), refused }
    },
    progress: context.progress,
  })
  route.client.close()
  await route.child.stop()
  return { table: deadTable(series), figures: deadFigures(series) }
}

function deadFigures(series: Series | null): readonly Figure[] {
  return [
    {
      goal: 'P19',
      what: 'one of ten connections never answers: p99 of the others, to that with all ten',
      values: series?.ratios('p99', oneDead, healthy) ?? [],
      atMost: 1.5,
    },
  ]
}

function deadTable(series: Series | null): SuiteTable {
  const of = (quantity: string, name: string) => spreadText(series?.values(quantity, name) ?? [])
  return {
    title: 'A connection that dies without a word',
    head: ['pool', 'p50 ms', 'p99 ms', 'answered with 503'],
    rows: [healthy, oneDead].map((name) => [
      name,
      of('p50', name),
      of('p99', name),
      of('refused', name),
    ]),
    note:
      '400 requests a second for five seconds. The connection that is used next is never answered again and never ' +
      'closed. What was sent on it fails at the deadline of the store; the times are those of all other requests.',
  }
}
