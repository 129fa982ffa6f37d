import { setTimeout as wait } from 'node:timers/promises'
import { addressesInTurn, postBytes, type TypedBody } from '../harness/body-request.js'
import type { Child } from '../harness/child.js'
import type { Context } from '../harness/context.js'
import { type HttpClient, httpClient } from '../harness/http-client.js'
import { inRounds, type Measured, type Series } from '../harness/rounds.js'
import { median, quantile, spreadText } from '../harness/statistics.js'
import type { Figure, Suite, SuiteTable } from '../harness/suite.js'

const ours = 'postern on Postgres'
const form = 'postern on Postgres, by a form'
const oidc = 'oidc-provider in memory'
const argon2 = 'argon2 each time'
const names = [ours, form, 'postern in memory', argon2, oidc, 'oidc-provider on Postgres']

interface Ready {
  readonly port: number
  readonly request: TypedBody
}

interface Recorded {
  readonly statements: number
  readonly trips: number
}

interface Contender {
  readonly name: string
  readonly child: Child<Ready>
  readonly http: HttpClient
  /** A grant of its machine, from the next of its addresses. */
  request(): Buffer
}

/** Grants of one contender in a round, one at a time and sixteen at a time. */
const slices = { alone: 80, many: 320 }

/** An address may ask so often within a minute, and once without being counted for all processes. */
const windowMs = 61_000

/** As many as a run measures: each comes back once, and few enough to be remembered. */
const addressesFor = ({ rounds, smoke }: Context): number =>
  smoke ? 20 : Math.min(8000, 50 + rounds * (slices.alone + slices.many))

export const grant: Suite = {
  name: 'grant',
  title: 'Tokens for machines: repeated client credentials grants',
  goals: ['P9'],
  async run(context) {
    const contenders = await startAll(context)
    const by = new Map(contenders.map((contender) => [contender.name, contender]))
    const timing = await startTiming(context)
    if (contenders.length === 0 || timing === null) {
      return { tables: [], figures: [{ goal: 'P9', what: 'grants', values: [], atMost: 0 }] }
    }
    for (const contender of contenders) {
      // The first grant hashes, and sixteen of them at once could be too much for a busy machine.
      await drive(contender, 1, 1)
      const isSlow = contender.name === argon2
      await drive(contender, 16, isSlow ? context.requests(40) : addressesFor(context))
    }
    if (!context.smoke) {
      context.progress('a minute, after which every address comes back')
      await wait(windowMs)
    }
    const recorded = new Map<string, Recorded>()
    for (const contender of contenders) recorded.set(contender.name, await record(contender))
    const series = await inRounds({
      rounds: context.rounds,
      contenders: contenders.map(({ name }) => name),
      rates: ['rate1', 'rate16'],
      measure: async (name) => {
        const contender = by.get(name)
        return contender === undefined ? {} : measure(contender, context)
      },
      progress: context.progress,
    })
    context.progress('first grants, wrong secrets, unknown ids')
    const timings = await inRounds({
      rounds: context.rounds,
      contenders: ['grant'],
      measure: () => timing.ask<Measured>('timings', { repeats: context.smoke ? 1 : 6 }),
      progress: context.progress,
    })
    const hashes = await timing.ask<number>('hashesOfFirstGrants', { grants: 16 })
    return {
      tables: [grantTable(series, recorded, contenders), timingTable(timings)],
      figures: context.smoke ? [] : figuresOf(series, timings, hashes),
    }
  },
}

async function startAll(context: Context): Promise<readonly Contender[]> {
  const started: Contender[] = []
  for (const name of context.smoke ? [ours, form] : names) {
    const database = await context.database()
    if (database === null) return []
    const given = { contender: name, postgres: database.url, key: context.key }
    const child = await context.start<Ready>('grant-server.mjs', given)
    const http = httpClient(child.ready.port)
    context.atEnd(async () => http.close())
    const address = addressesInTurn(addressesFor(context))
    started.push({ name, child, http, request: () => postBytes(child.ready.request, address()) })
  }
  return started
}

async function startTiming(context: Context): Promise<Child<null> | null> {
  const database = await context.database()
  if (database === null) return null
  return context.start<null>('grant-timing.mjs', { postgres: database.url, key: context.key })
}

async function measure(contender: Contender, context: Context): Promise<Measured> {
  // A hash takes so long that a few grants are enough.
  const share = contender.name === argon2 ? 8 : 1
  const alone = await drive(contender, 1, context.requests(Math.ceil(slices.alone / share)))
  const many = await drive(contender, 16, context.requests(Math.ceil(slices.many / share)))
  return {
    rate1: alone.rate,
    latency1: alone.latency,
    rate16: many.rate,
    p99: many.p99,
    cpu: many.cpu,
  }
}

async function drive(contender: Contender, connections: number, requests: number) {
  const { child, http, name, request } = contender
  const cpu = await child.cpu()
  const { seconds, milliseconds } = await http.slice({
    requests,
    connections,
    next: request,
    seen({ status, body }) {
      if (status !== 200) throw new Error(`${name}: ${status} ${body}`)
    },
  })
  return {
    rate: requests / seconds,
    latency: median(milliseconds) * 1000,
    p99: quantile(milliseconds, 0.99),
    cpu: ((await child.cpu()) - cpu) / requests,
  }
}

async function record(contender: Contender): Promise<Recorded> {
  const recordings: Recorded[] = []
  for (let time = 0; time < 3; time += 1) {
    const recording = contender.child.ask<Recorded>('recordStatements', { forMs: 600 })
    await wait(50)
    await drive(contender, 1, 1)
    recordings.push(await recording)
  }
  // What a timer of the library sends now and then may fall into one of them.
  return recordings.reduce((least, next) => (next.statements < least.statements ? next : least))
}

function grantTable(
  series: Series,
  recorded: ReadonlyMap<string, Recorded>,
  contenders: readonly Contender[],
): SuiteTable {
  const rows = contenders.map(({ name }) => {
    const cell = (quantity: string) => spreadText(series.values(quantity, name))
    const { statements, trips } = recorded.get(name) ?? {}
    const counts = `${statements} / ${trips}`
    return [name, cell('cpu'), counts, cell('rate1'), cell('latency1'), cell('rate16'), cell('p99')]
  })
  const head = [
    'contender',
    'server CPU, µs',
    'statements / trips',
    'grants/s, 1 connection',
    'latency, µs, 1 connection',
    'grants/s, 16 connections',
    'p99, ms, 16 connections',
  ]
  const note =
    'One machine asks again and again with one secret; every token is signed by RS256. oidc-provider keeps ' +
    'secrets in plain text and compares them, and its client is part of its configuration. The hand-made ' +
    'endpoint reads one row and checks an argon2id hash at each grant, at the costs that Postern has by ' +
    'default. Postern keeps a hash too, and remembers for a while that it accepted a secret. Its row is ' +
    'read at each grant, so a revoked credential stops at once. By a form is the door for OAuth libraries, ' +
    'with `client_secret_post`. Every address asked once before, more than a ' +
    'minute ago: what is recorded once an hour for an address is not part of the figures.'
  return { head, rows, note }
}

const kinds = [
  ['first', 'a first grant'],
  ['wrong', 'a wrong secret'],
  ['unknown', 'an unknown client id'],
] as const

function timingTable(timings: Series): SuiteTable {
  return {
    title: 'What the time of an answer gives away',
    head: ['request', 'CPU, µs'],
    rows: kinds.map(([kind, what]) => [what, spreadText(timings.values(kind, 'grant'))]),
    note: 'The least of six in each round, each on an instance that has not seen the secret.',
  }
}

function figuresOf(series: Series, timings: Series, hashes: number): readonly Figure[] {
  const goal = 'P9'
  const spreads = timings.values('first', 'grant').map((_, round) => {
    const all = kinds.map(([kind]) => timings.values(kind, 'grant')[round] ?? Number.NaN)
    return Math.max(...all) / Math.min(...all)
  })
  return [
    ...['1', '16'].flatMap((width): readonly Figure[] => [
      {
        goal,
        what: `rate over oidc-provider in memory, ${width} at a time`,
        values: series.ratios(`rate${width}`, ours, oidc),
        atLeast: 0.65,
      },
      {
        goal,
        what: `rate over argon2 each time, ${width} at a time`,
        values: series.ratios(`rate${width}`, ours, argon2),
        atLeast: 15,
      },
    ]),
    {
      goal,
      what: 'server CPU of the form door over the JSON door',
      values: series.ratios('cpu', form, ours),
    },
    {
      goal,
      what: 'server CPU over oidc-provider in memory',
      values: series.ratios('cpu', ours, oidc),
    },
    { goal, what: 'hashes of sixteen first grants at once', values: [hashes], atMost: 1 },
    {
      goal,
      what: 'the dearest over the cheapest of first grant, wrong secret, unknown id',
      values: spreads,
      atMost: 1.08,
    },
  ]
}
