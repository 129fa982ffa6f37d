import { setTimeout as wait } from 'node:timers/promises'
import { onDatabase } from '../../test/support/stores/postgres.js'
import { backendCpu } from '../harness/backend-cpu.js'
import { newAddress, postBytes } from '../harness/body-request.js'
import type { Child } from '../harness/child.js'
import type { Context } from '../harness/context.js'
import {
  type HttpClient,
  type HttpReply,
  httpClient,
  requestBytes,
} from '../harness/http-client.js'
import { inRounds, type Measured, type Series } from '../harness/rounds.js'
import { median, quantile, rounded, spreadText } from '../harness/statistics.js'
import type { Figure, Suite, SuiteTable } from '../harness/suite.js'

/** Renewals of one contender in a slice, one at a time and sixteen at a time, and the slices of a round. */
const slices = { alone: 100, many: 400, times: 3, warm: 200 }

/** Each family is renewed once. */
const familiesFor = ({ rounds, smoke }: Context): number =>
  smoke
    ? 200
    : Math.max(10_000, slices.warm + 3 + rounds * slices.times * (slices.alone + slices.many))

const secret = 'bench-secret-bench-secret-bench-secret'

/** How a contender is asked to renew, and how its reply is recognised as a renewal. */
interface Dialect {
  request(credential: string): Buffer
  renewed(reply: HttpReply): boolean
}

const dialects: Readonly<Record<string, Dialect>> = {
  postern: {
    request: (refreshToken) =>
      requestBytes('POST', '/v1/auth/client/refresh', newAddress(), { refreshToken }),
    renewed: ({ head }) => /\r\nx-refresh-outcome: rotated/i.test(head),
  },
  'hand-made': {
    request: (refreshToken) => requestBytes('POST', '/refresh', {}, { refreshToken }),
    renewed: ({ body }) => body.includes('refreshToken'),
  },
  'better-auth': {
    request: (cookie) => requestBytes('GET', '/api/auth/get-session', { cookie }),
    renewed: ({ head }) => /\r\nset-cookie: /i.test(head),
  },
  'oidc-provider': {
    request: (token) =>
      postBytes({
        path: '/token',
        type: 'application/x-www-form-urlencoded',
        body: `grant_type=refresh_token&refresh_token=${token}&client_id=c&client_secret=${secret}`,
      }),
    renewed: ({ body }) => body.includes('refresh_token'),
  },
}

const names = Object.keys(dialects)

interface Recorded {
  readonly statements: number
  readonly writes: number
  readonly trips: number
  readonly texts: readonly string[]
}

interface Contender extends Dialect {
  readonly name: string
  readonly databaseUrl: string
  readonly child: Child<{ readonly port: number }>
  readonly http: HttpClient
}

export const refresh: Suite = {
  name: 'refresh',
  title: 'Renewing a session on Postgres',
  goals: ['P8'],
  async run(context) {
    const contenders = await startAll(context)
    const [ours] = contenders
    if (ours === undefined) return { tables: [], figures: notMeasured() }
    const by = new Map(contenders.map((contender) => [contender.name, contender]))
    for (const contender of contenders) await drive(contender, 16, context.requests(slices.warm))
    const recorded = new Map<string, Recorded>()
    for (const contender of contenders) recorded.set(contender.name, await record(contender))
    const series = await inRounds({
      rounds: context.rounds,
      slices: context.smoke ? 1 : slices.times,
      contenders: contenders.map(({ name }) => name),
      rates: ['rate1', 'rate16'],
      measure: (name) => measure(by.get(name) ?? ours, context),
      progress: context.progress,
    })
    for (const { http, child } of contenders) {
      http.close()
      // Its connections have then told the server how they updated.
      await child.stop()
    }
    const heapOnly = await heapOnlyShare(ours.databaseUrl)
    return {
      tables: tablesOf(series, recorded, contenders, heapOnly),
      figures: context.smoke ? [] : figuresOf(series, recorded, heapOnly),
    }
  },
}

async function startAll(context: Context): Promise<readonly Contender[]> {
  const started: Contender[] = []
  const families = familiesFor(context)
  for (const name of context.smoke ? ['postern'] : names) {
    const database = await context.database()
    const dialect = dialects[name]
    if (database === null || dialect === undefined) return []
    context.progress(`${families} families for ${name}`)
    const child = await context.start<{ readonly port: number }>('refresh-server.mjs', {
      contender: name,
      postgres: database.url,
      key: context.key,
      families,
    })
    const http = httpClient(child.ready.port)
    context.atEnd(async () => http.close())
    started.push({ ...dialect, name, databaseUrl: database.url, child, http })
  }
  return started
}

async function measure(contender: Contender, context: Context): Promise<Measured> {
  const alone = await drive(contender, 1, context.requests(slices.alone))
  const many = await drive(contender, 16, context.requests(slices.many))
  return {
    rate1: alone.rate,
    latency1: alone.latency,
    rate16: many.rate,
    p99: many.p99,
    cpu: many.cpu,
    postgresCpu: many.postgresCpu,
    loopDelay: many.loopDelay,
  }
}

/** Renews as many families as there are requests, each for the first time. */
async function drive(contender: Contender, connections: number, requests: number) {
  const { child, http, name, databaseUrl } = contender
  const credentials = await child.ask<string[]>('credentials', { count: requests })
  const messages = credentials.map((credential) => contender.request(credential))
  await child.ask('loopDelay')
  const cpu = await child.cpu()
  const postgres = await backendCpu(databaseUrl)
  const { seconds, milliseconds } = await http.slice({
    requests,
    connections,
    next: (_connection, request) => messages[request] ?? Buffer.alloc(0),
    seen(reply) {
      if (reply.status === 200 && contender.renewed(reply)) return
      throw new Error(`${name}: ${reply.status} ${reply.head} ${reply.body}`)
    },
  })
  return {
    rate: requests / seconds,
    latency: median(milliseconds) * 1000,
    p99: quantile(milliseconds, 0.99),
    cpu: ((await child.cpu()) - cpu) / requests,
    postgresCpu: ((await backendCpu(databaseUrl)) - postgres) / requests,
    loopDelay: await child.ask<number>('loopDelay'),
  }
}

/** What one renewal sends, once every statement was prepared. */
async function record(contender: Contender): Promise<Recorded> {
  const recordings: Recorded[] = []
  for (let time = 0; time < 3; time += 1) {
    const recording = contender.child.ask<Recorded>('recordStatements', { forMs: 400 })
    await wait(50)
    await drive(contender, 1, 1)
    recordings.push(await recording)
  }
  // What a timer of the library sends now and then may fall into one of them.
  return recordings.reduce((least, next) => (next.statements < least.statements ? next : least))
}

/**
 * The share of the rotations that touched no index. A connection's figures reach the server's when it
 * ends, and a little later others can read them.
 */
async function heapOnlyShare(url: string): Promise<number> {
  await wait(500)
  return onDatabase(url, async (client) => {
    const { rows } = await client.query(
      `select n_tup_upd as updated, n_tup_hot_upd as heap_only from pg_stat_user_tables
        where relname = 'client_refresh_tokens'`,
    )
    return Number(rows[0]?.heap_only) / Number(rows[0]?.updated)
  })
}

function tablesOf(
  series: Series,
  recorded: ReadonlyMap<string, Recorded>,
  contenders: readonly Contender[],
  heapOnly: number,
): readonly SuiteTable[] {
  const cell = (quantity: string, name: string) => spreadText(series.values(quantity, name))
  const rows = contenders.map(({ name }) => {
    const { statements, trips, writes } = recorded.get(name) ?? {}
    return [
      name,
      cell('cpu', name),
      cell('postgresCpu', name),
      `${statements} / ${trips} / ${writes}`,
      cell('rate1', name),
      cell('latency1', name),
      cell('rate16', name),
      cell('p99', name),
      cell('loopDelay', name),
    ]
  })
  const head = [
    'contender',
    'server CPU, µs',
    'Postgres CPU, µs',
    'statements / trips / writes',
    'renewals/s, 1 connection',
    'latency, µs, 1 connection',
    'renewals/s, 16 connections',
    'p99, ms, 16 connections',
    'event-loop delay p99, ms',
  ]
  const note = [
    '10,000 families each, every one renewed once at most, all contenders on Express but',
    'oidc-provider, which brings its own server. Postern and oidc-provider hand out a new refresh token,',
    'and sign two tokens; better-auth moves its session on, signs no token, and replaces none. The hand-made',
    'endpoint reads no user, limits nothing and notices no reuse: it is the floor.',
    `Of Postern's rotations, ${rounded(heapOnly * 100)} % touched no index.`,
  ].join(' ')
  return [{ head, rows, note }]
}

function figuresOf(
  series: Series,
  recorded: ReadonlyMap<string, Recorded>,
  heapOnly: number,
): readonly Figure[] {
  const goal = 'P8'
  const ratio = (quantity: string, to: string) => series.ratios(quantity, 'postern', to)
  const own = recorded.get('postern')
  const count = (value: number | undefined) => (value === undefined ? [] : [value])
  return [
    { goal, what: 'durable writes', values: count(own?.writes), atMost: 1 },
    { goal, what: 'statements', values: count(own?.statements), atMost: 3 },
    { goal, what: 'trips', values: count(own?.trips), atMost: 2 },
    ...['1', '16'].flatMap((width): readonly Figure[] => [
      {
        goal,
        what: `rate over hand-made, ${width} at a time`,
        values: ratio(`rate${width}`, 'hand-made'),
        why: 'statements of a refresh',
        atLeast: 0.8,
      },
      {
        goal,
        what: `rate over oidc-provider, ${width} at a time`,
        values: ratio(`rate${width}`, 'oidc-provider'),
        why: 'statements of a refresh',
        atLeast: 1.3,
      },
    ]),
    {
      goal,
      what: 'server CPU over oidc-provider',
      values: ratio('cpu', 'oidc-provider'),
      why: 'statements of a refresh',
      atMost: 0.85,
    },
    {
      goal,
      what: 'server CPU over better-auth',
      values: ratio('cpu', 'better-auth'),
      atMost: 0.95,
      why: 'statements of a refresh',
    },
    { goal, what: 'server CPU over hand-made', values: ratio('cpu', 'hand-made') },
    {
      goal,
      what: 'Postgres CPU over oidc-provider',
      values: ratio('postgresCpu', 'oidc-provider').filter(Number.isFinite),
      atMost: 1.2,
    },
    { goal, what: 'rotations that touch no index', values: [heapOnly], atLeast: 0.95 },
  ]
}

function notMeasured(): readonly Figure[] {
  return [{ goal: 'P8', what: 'renewing on Postgres', values: [], atMost: 0 }]
}
