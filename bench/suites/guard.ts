import type { Child } from '../harness/child.js'
import type { Context } from '../harness/context.js'
import { type HttpClient, httpClient, requestBytes } from '../harness/http-client.js'
import { inRounds, type Measured, type Series } from '../harness/rounds.js'
import { rounded, spreadText } from '../harness/statistics.js'
import type { Figure, Suite, SuiteTable } from '../harness/suite.js'

interface Served {
  readonly port: number
  readonly headers: Readonly<Record<string, string>>
}

interface Route {
  readonly child: Child<Served>
  readonly client: HttpClient
  readonly request: Buffer
  /** Its requests are ten times as dear as the others', so that fewer are sent. */
  readonly isHeavy: boolean
}

const none = 'none'
const unread = 'none, with a token'
const inMemory = 'postern memory'
const onPostgres = 'postern postgres'
const onRedis = 'postern redis'
const keyRead = 'one read by key'
const jwt = '@fastify/jwt'
const cookieCache = 'better-auth, cookie cache'
const database = 'better-auth, Postgres'

/** Connections, and the requests of a slice with so many. */
const widths = [
  [64, 4000],
  [8, 1500],
  [1, 400],
] as const

/**
 * Until a process runs its hot code as optimised as it gets, some 60,000 requests go by. Measured
 * earlier, the checks with more code of their own look dearer than they are.
 */
const warmUps = 12

/** The least of three still varies by a half where a route costs little: a machine is slow for longer than a slice. */
const moreSlices = 8

const rates = widths.map(([width]) => `rate${width}`)

/** What a check costs on a route that does nothing else, beside the same route without a check. */
export const guard: Suite = {
  name: 'guard',
  title: 'Protected routes',
  goals: ['P1', 'P2', 'P4'],
  async run(context) {
    const fastify = await measured(context, 'fastify', [
      ...[none, inMemory, onPostgres, onRedis, keyRead],
      ...(context.smoke ? [] : [jwt, cookieCache, database]),
    ])
    const others = context.smoke ? [inMemory] : [none, unread, inMemory, onPostgres]
    const express = await measured(context, 'express', others)
    const koa = await measured(context, 'koa', others)
    return {
      tables: [table('Fastify 5', fastify), table('Express 5', express), table('Koa 3', koa)],
      figures: [
        ...inProcess(fastify.series),
        ...overPostgres(fastify.series),
        ...overRedis(fastify.series),
        ...otherFrameworks('Express', express.series),
        ...otherFrameworks('Koa', koa.series),
      ],
    }
  },
}

interface Run {
  readonly contenders: readonly string[]
  readonly series: Series
}

async function measured(
  context: Context,
  framework: string,
  wanted: readonly string[],
): Promise<Run> {
  const routes = new Map<string, Route>()
  for (const check of wanted) {
    context.progress(`${framework}: starting ${check}`)
    const route = await routeOf(context, framework, check)
    if (route !== null) routes.set(check, route)
  }
  const contenders = [...routes.keys()]
  const measure = async (check: string): Promise<Measured> => {
    const route = routes.get(check)
    return route === undefined ? {} : shots(context, route)
  }
  for (const check of contenders) {
    context.progress(`${framework}: warming up ${check}`)
    for (let pass = 0; pass < (context.smoke ? 1 : warmUps); pass += 1) await measure(check)
  }
  const series = await inRounds({
    rounds: context.rounds,
    slices: context.smoke ? 1 : framework === 'fastify' ? 3 : moreSlices,
    rates,
    contenders,
    measure,
    progress: (text) => context.progress(`${framework}: ${text}`),
  })
  for (const { client, child } of routes.values()) {
    client.close()
    await child.stop()
  }
  return { contenders, series }
}

/** Null where its server is missing. */
async function routeOf(context: Context, framework: string, check: string): Promise<Route | null> {
  const onTables = [onPostgres, keyRead, cookieCache, database].includes(check)
  const tables = onTables ? await context.database() : null
  const keys = check === onRedis ? await context.redis() : null
  if ((onTables && tables === null) || (check === onRedis && keys === null)) return null
  const child = await context.start<Served>('guard.mjs', {
    framework,
    check,
    key: context.key,
    url: tables?.url,
    redis: keys,
  })
  const { port, headers } = child.ready
  const client = httpClient(port)
  if (check !== unread) await refusesOthers(client, headers)
  const request = requestBytes('GET', '/me', headers)
  return { child, client, request, isHeavy: check.startsWith('better-auth') }
}

/** A check that lets a damaged token through measures nothing. */
async function refusesOthers(
  client: HttpClient,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const token = headers['authorization']
  if (token === undefined) return
  const damaged = { authorization: `${token.slice(0, -6)}AAAAAA` }
  await client.slice({
    requests: 1,
    connections: 1,
    next: () => requestBytes('GET', '/me', damaged),
    seen({ status }) {
      if (status !== 401) throw new Error(`a damaged token was answered with ${status}`)
    },
  })
}

async function shots(context: Context, route: Route): Promise<Measured> {
  const measured: Record<string, number> = {}
  for (const [width, full] of widths) {
    const requests = context.requests(route.isHeavy ? full / 10 : full)
    const before = await route.child.cpu()
    const { seconds } = await route.client.slice({
      requests,
      connections: width,
      next: () => route.request,
      seen({ status }) {
        if (status !== 200) throw new Error(`a request was answered with ${status}`)
      },
    })
    measured[`cpu${width}`] = ((await route.child.cpu()) - before) / requests
    measured[`rate${width}`] = requests / seconds
    measured[`latency${width}`] = (seconds * 1e6) / requests
  }
  return measured
}

function inProcess(series: Series): readonly Figure[] {
  const added = (reference: string) => series.addedRatios('cpu64', inMemory, reference, none)
  const goal = 'P1'
  const what = 'in-process denylist: added CPU, to that of'
  return [
    { goal, what: `${what} @fastify/jwt with its cache`, values: added(jwt), atMost: 0.45 },
    {
      goal,
      what: `${what} better-auth with its cookie cache`,
      values: added(cookieCache),
      atMost: 1 / 40,
    },
    { goal, what: `${what} better-auth on Postgres`, values: added(database), atMost: 1 / 60 },
  ]
}

function overPostgres(series: Series): readonly Figure[] {
  const goal = 'P1'
  const what = 'denylist on Postgres'
  const added = (width: number) => series.addedRatios(`cpu${width}`, onPostgres, jwt, none)
  return [
    {
      goal,
      what: `${what}, 64 connections: added CPU, to that of @fastify/jwt with its cache`,
      values: added(64),
      atMost: 1.2,
    },
    {
      goal,
      what: `${what}, 64 connections: throughput, to the route without a check`,
      values: series.ratios('rate64', onPostgres, none),
      atLeast: 0.5,
    },
    {
      goal,
      what: `${what}, 8 connections: added CPU, to that of @fastify/jwt with its cache`,
      values: added(8),
      atMost: 2.5,
    },
    {
      goal,
      what: `${what}, 1 connection: latency, to the route with one read by key`,
      values: series.ratios('latency1', onPostgres, keyRead),
      atMost: 1.15,
      why: 'one read by key',
    },
  ]
}

function overRedis(series: Series): readonly Figure[] {
  const goal = 'P4'
  const what = 'denylist on Redis, 64 connections:'
  return [
    {
      goal,
      what: `${what} added CPU, to that of @fastify/jwt with its cache`,
      values: series.addedRatios('cpu64', onRedis, jwt, none),
      atMost: 0.9,
    },
    {
      goal,
      what: `${what} throughput, to the route without a check`,
      values: series.ratios('rate64', onRedis, none),
      atLeast: 0.6,
    },
    {
      goal,
      what: `${what} throughput, to better-auth on Postgres`,
      values: series.ratios('rate64', onRedis, database),
      atLeast: 12,
    },
  ]
}

function otherFrameworks(framework: string, series: Series): readonly Figure[] {
  const goal = 'P2'
  const what = 'CPU for a request, to the route without a check'
  return [
    {
      goal,
      what: `${framework}, no check, but the same token sent: ${what}`,
      values: series.ratios('cpu64', unread, none),
    },
    {
      goal,
      what: `${framework}, in-process denylist: ${what}`,
      values: series.ratios('cpu64', inMemory, none),
      atMost: 1.1,
      why: 'routes of other frameworks',
    },
    {
      goal,
      what: `${framework}, denylist on Postgres: ${what}`,
      values: series.ratios('cpu64', onPostgres, none),
      atMost: 1.35,
      why: 'routes of other frameworks',
    },
  ]
}

function table(title: string, { contenders, series }: Run): SuiteTable {
  const rows = contenders.map((name) => [
    name,
    spreadText(series.values('cpu64', name)),
    spreadText(series.added('cpu64', name, none)),
    spreadText(series.added('cpu8', name, none)),
    ...[64, 8, 1].map((width) => spreadText(series.ratios(`rate${width}`, name, none))),
    rounded(Math.min(...series.values('latency1', name))),
  ])
  return {
    title,
    head: [
      'check',
      'CPU µs at 64',
      'added CPU µs at 64',
      'added at 8',
      'throughput to none at 64',
      'at 8',
      'at 1',
      'least µs a request at 1',
    ],
    rows,
    note:
      'The same token at each request. "At 64" means on 64 connections that stay open. The page\'s load comes from ' +
      'the same machine, so the client and the databases take their share of the cores.',
  }
}
