import type { Context } from '../harness/context.js'
import { requestBytes } from '../harness/http-client.js'
import { inRounds, type Measured, type Series } from '../harness/rounds.js'
import { quantile, spreadText } from '../harness/statistics.js'
import type { Figure, Suite, SuiteTable } from '../harness/suite.js'
import {
  isTooBusy,
  type LoginHost,
  type LoginKind,
  loginBytes,
  loginHostOf,
  mustSucceed,
  signInOneByOne,
  stopHost,
} from './parts/login-host.js'
import { loginMemory } from './parts/login-memory.js'

const simd = '@node-rs/argon2'
const peer = 'better-auth'

const ours = {
  argon2: 'postern, argon2, two hashes at a time',
  simd: `postern, ${simd}, two hashes at a time`,
  argon2One: 'postern, argon2, one hash at a time',
  simdOne: `postern, ${simd}, one hash at a time`,
}
const handMade = { argon2: 'hand-made: argon2 and jose', simd: `hand-made: ${simd} and jose` }

const kinds: Readonly<Record<string, LoginKind>> = {
  [ours.argon2]: { kind: 'postern', binding: 'argon2', concurrency: 2 },
  [ours.simd]: { kind: 'postern', binding: simd, concurrency: 2 },
  [ours.argon2One]: { kind: 'postern', binding: 'argon2', concurrency: 1 },
  [ours.simdOne]: { kind: 'postern', binding: simd, concurrency: 1 },
  [handMade.argon2]: { kind: 'hand-made', binding: 'argon2' },
  [handMade.simd]: { kind: 'hand-made', binding: simd },
  [peer]: { kind: 'better-auth' },
}

/** What a login costs, and what sixteen at a time do to everybody else. */
export const login: Suite = {
  name: 'login',
  title: 'Logins',
  goals: ['P5', 'P6', 'P7'],
  async run(context) {
    const contenders = Object.keys(kinds).filter(
      (name) => !context.smoke || kinds[name]?.concurrency === 2,
    )
    const hosts = new Map<string, LoginHost>()
    for (const name of contenders) {
      context.progress(`starting ${name}`)
      const host = await loginHostOf(context, kinds[name] ?? { kind: 'postern' })
      if (host !== null) hosts.set(name, host)
    }
    const measure = async (name: string): Promise<Measured> => {
      const host = hosts.get(name)
      return host === undefined ? {} : shots(context, host)
    }
    for (const host of hosts.values()) await signInOneByOne(host, context.requests(8))
    const series = await inRounds({
      rounds: context.rounds,
      rates: ['rate'],
      contenders: [...hosts.keys()],
      measure,
      progress: context.progress,
    })
    for (const host of hosts.values()) await stopHost(host)
    const memory = await loginMemory(context)
    return {
      tables: [table([...hosts.keys()], series), memory.table],
      figures: [...delays(series), ...costs(series), ...memory.figures],
    }
  },
}

/** The other route is asked a hundred times a second, while sixteen connections sign in. */
async function shots(context: Context, host: LoginHost): Promise<Measured> {
  const alone = await signInOneByOne(host, context.requests(48))
  const me = requestBytes('GET', '/me', host.child.ready.me)
  let isProbing = true
  let refused = 0
  const probing = host.others
    .paced({ requests: context.requests(300), rate: 100, next: () => me, seen: mustSucceed })
    .finally(() => {
      isProbing = false
    })
  const [delays, { seconds, milliseconds }] = await Promise.all([
    probing,
    host.logins.slice({
      requests: Number.POSITIVE_INFINITY,
      connections: 16,
      next: (_, request) => loginBytes(host, request),
      seen: (reply) => {
        if (!isTooBusy(reply)) mustSucceed(reply)
        else refused += 1
      },
      goesOn: () => isProbing,
    }),
  ])
  const rate = (milliseconds.length - refused) / seconds
  return { ...alone, rate, refused, p99: quantile(delays, 0.99) }
}

function delays(series: Series): readonly Figure[] {
  const goal = 'P5'
  const p99 = (name: string, reference: string) => series.ratios('p99', name, reference)
  const what = 'p99 of a protected route during 16 logins, to that of'
  const rate = 'logins in the same time, to unlimited ones with the same binding'
  return [
    {
      goal,
      what: `${simd}: ${what} argon2 and jose`,
      values: p99(ours.simd, handMade.argon2),
      why: 'hashes in turn',
      atMost: 1 / 8,
    },
    {
      goal,
      what: `${simd}: ${what} better-auth`,
      values: p99(ours.simd, peer),
      why: 'hashes in turn',
      atMost: 1 / 30,
    },
    {
      goal,
      what: `${simd}: ${rate}`,
      values: series.ratios('rate', ours.simd, handMade.simd),
      why: 'hashes in turn',
      atLeast: 0.85,
    },
    {
      goal,
      what: `argon2: ${what} argon2 and jose`,
      values: p99(ours.argon2, handMade.argon2),
      why: 'hashes in turn',
      atMost: 1 / 4,
    },
    {
      goal,
      what: `argon2: ${what} better-auth`,
      values: p99(ours.argon2, peer),
      atMost: 1 / 16,
      why: 'hashes in turn',
    },
    {
      goal,
      what: `argon2: ${rate}`,
      values: series.ratios('rate', ours.argon2, handMade.argon2),
      why: 'hashes in turn',
      atLeast: 0.8,
    },
  ]
}

function costs(series: Series): readonly Figure[] {
  const goal = 'P6'
  const rate = 'logins at 16 connections, to better-auth'
  const cpu = 'CPU for a login, to a hand-made one with the same binding'
  return [
    {
      goal,
      what: `argon2: ${rate}`,
      values: series.ratios('rate', ours.argon2, peer),
      why: 'hashes in turn',
      atLeast: 2.8,
    },
    {
      goal,
      what: `${simd}: ${rate}`,
      values: series.ratios('rate', ours.simd, peer),
      atLeast: 5,
      why: 'hashes in turn',
    },
    {
      goal,
      what: `argon2: ${cpu}`,
      values: series.ratios('cpu', ours.argon2, handMade.argon2),
      why: 'a login',
      atMost: 1.08,
    },
    {
      goal,
      what: `${simd}: ${cpu}`,
      values: series.ratios('cpu', ours.simd, handMade.simd),
      why: 'a login',
      atMost: 1.08,
    },
  ]
}

function table(contenders: readonly string[], series: Series): SuiteTable {
  return {
    head: [
      'host',
      'CPU ms a login',
      'ms a login, one at a time',
      'logins a second at 16',
      'p99 of the other route, ms',
      'told to come back',
    ],
    rows: contenders.map((name) => [
      name,
      ...['cpu', 'latency', 'rate', 'p99', 'refused'].map((quantity) =>
        spreadText(series.values(quantity, name)),
      ),
    ]),
    note:
      'All on Express and Postgres, argon2id with 19,456 KiB, two passes and one lane; better-auth hashes with scrypt. ' +
      'While sixteen connections sign in, the other route is asked 100 times a second, whether it answered or not.',
  }
}
