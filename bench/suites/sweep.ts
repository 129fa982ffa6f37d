import { backendCpu } from '../harness/backend-cpu.js'
import { newAddress } from '../harness/body-request.js'
import type { Child } from '../harness/child.js'
import type { Context } from '../harness/context.js'
import { type HttpClient, httpClient, requestBytes } from '../harness/http-client.js'
import { inRounds, type Measured, type Series } from '../harness/rounds.js'
import { quantile, spreadText } from '../harness/statistics.js'
import type { Figure, Suite, SuiteTable } from '../harness/suite.js'

const goal = 'P12'
const own = 'postern'
const bare = 'bare statement'
const peer = "better-auth's columns"

/** Batches that each contender removes while renewals run beside it, in a round. */
const beside = 2

interface Parts {
  readonly databaseUrl: string
  readonly sweeper: Child<null>
  readonly server: Child<{ readonly port: number }>
  readonly http: HttpClient
}

export const sweep: Suite = {
  name: 'sweep',
  title: 'Removing what has expired',
  goals: ['P12'],
  async run(context) {
    const parts = await open(context)
    if (parts === null) {
      return { tables: [], figures: [{ goal, what: 'the sweep', values: [], atMost: 0 }] }
    }
    const kinds = context.smoke ? [own, bare] : [own, bare, peer]
    const batches = await inRounds({
      rounds: context.rounds,
      contenders: kinds,
      measure: (kind) => removeBatch(parts, kind),
      progress: (text) => context.progress(`batches, ${text}`),
    })
    const renewals = await inRounds({
      rounds: context.rounds,
      contenders: ['alone', 'beside a sweep'],
      measure: (how) => renew(parts, context, how !== 'alone'),
      progress: (text) => context.progress(`renewals, ${text}`),
    })
    const dry = new Map<string, number>()
    for (const kind of kinds) {
      dry.set(kind, await parts.sweeper.ask<number>('removeDry', { kind }))
    }
    return {
      tables: [batchTable(kinds, batches, dry), renewalTable(renewals)],
      figures: context.smoke ? [] : figuresOf(batches, renewals),
    }
  },
}

/** The server makes the tables and the families that are renewed; the sweeper fills them up. */
async function open(context: Context): Promise<Parts | null> {
  const database = await context.database()
  if (database === null) return null
  const given = { postgres: database.url, key: context.key }
  const server = await context.start<{ readonly port: number }>('refresh-server.mjs', {
    ...given,
    contender: 'postern',
    families: context.smoke ? 500 : 4000 + context.rounds * 2 * 400,
  })
  const http = httpClient(server.ready.port)
  context.atEnd(async () => http.close())
  context.progress('filling the tables')
  const batches = context.rounds * (2 + beside)
  const sweeper = await context.start<null>('sweep-child.mjs', {
    ...given,
    rows: context.smoke ? 60_000 : 1_050_000,
    batches,
    withPeer: !context.smoke,
  })
  return { databaseUrl: database.url, sweeper, server, http }
}

async function removeBatch({ sweeper, databaseUrl }: Parts, kind: string): Promise<Measured> {
  const before = await backendCpu(databaseUrl)
  const time = await sweeper.ask<number>('remove', { kind })
  return { time, postgresCpu: ((await backendCpu(databaseUrl)) - before) / 1000 }
}

/** Four at a time; with a sweep beside it, as long as the renewals last or all batches are gone. */
async function renew({ http, server, sweeper }: Parts, context: Context, swept: boolean) {
  const requests = context.requests(400)
  const tokens = await server.ask<string[]>('credentials', { count: requests })
  const messages = tokens.map((refreshToken) =>
    requestBytes('POST', '/v1/auth/client/refresh', newAddress(), { refreshToken }),
  )
  const [{ milliseconds }] = await Promise.all([
    http.slice({
      requests,
      connections: 4,
      next: (_connection, request) => messages[request] ?? Buffer.alloc(0),
      seen({ status, body }) {
        if (status !== 200) throw new Error(`renewal: ${status} ${body}`)
      },
    }),
    swept ? removeSome(sweeper) : null,
  ])
  return { p99: quantile(milliseconds, 0.99), p50: quantile(milliseconds, 0.5) }
}

async function removeSome(sweeper: Child<null>): Promise<void> {
  for (let batch = 0; batch < beside; batch += 1) await sweeper.ask('remove', { kind: own })
}

function batchTable(
  kinds: readonly string[],
  batches: Series,
  dry: ReadonlyMap<string, number>,
): SuiteTable {
  const rows = kinds.map((kind) => [
    kind,
    spreadText(batches.values('time', kind)),
    spreadText(batches.values('postgresCpu', kind)),
    spreadText([dry.get(kind) ?? Number.NaN]),
  ])
  const note =
    'Batches of 5,000 rows that fell due, spread evenly over a table of more than a million. The bare statement deletes by ' +
    '`ctid` on the same table and counts nothing. The third row deletes by expiry from a table with the ' +
    'columns that better-auth makes, which has no index for it.'
  const head = ['a batch', 'time, ms', 'Postgres CPU, ms', 'where nothing is due, ms']
  return { head, rows, note }
}

function renewalTable(renewals: Series): SuiteTable {
  return {
    title: 'Renewing sessions meanwhile',
    head: ['renewals, four at a time', 'p50, ms', 'p99, ms'],
    rows: ['alone', 'beside a sweep'].map((how) => [
      how,
      spreadText(renewals.values('p50', how)),
      spreadText(renewals.values('p99', how)),
    ]),
  }
}

function figuresOf(batches: Series, renewals: Series): readonly Figure[] {
  return [
    {
      goal,
      what: 'a batch over the bare statement',
      values: batches.ratios('time', own, bare),
      why: 'a batch of the sweep',
      atMost: 1.3,
    },
    {
      goal,
      what: 'Postgres CPU of a batch over the bare statement',
      values: batches.ratios('postgresCpu', own, bare).filter(Number.isFinite),
    },
    {
      goal,
      what: 'p99 of a renewal, beside a sweep over alone',
      values: renewals.ratios('p99', 'beside a sweep', 'alone'),
      atMost: 2,
    },
  ]
}
