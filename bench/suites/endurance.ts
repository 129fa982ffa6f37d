import { createPrivateKey, type KeyObject, randomUUID, sign } from 'node:crypto'
import type { Child } from '../harness/child.js'
import type { Context } from '../harness/context.js'
import { httpClient, requestBytes } from '../harness/http-client.js'
import { rounded } from '../harness/statistics.js'
import type { Suite } from '../harness/suite.js'

interface Served {
  readonly port: number
  readonly headers: Readonly<Record<string, string>>
}

interface Sample {
  readonly requests: number
  /** Both in MiB. */
  readonly rss: number
  readonly heap: number
}

const million = 1_000_000
const samplesAMillion = 5
const mebibyte = 2 ** 20

/** What two million requests leave in the memory of a process. */
export const endurance: Suite = {
  name: 'endurance',
  title: 'Memory in the long run',
  goals: ['P17'],
  async run(context) {
    const given = { framework: 'fastify', check: 'postern memory', key: context.key }
    const child = await context.start<Served>('guard.mjs', given, { execArgv: ['--expose-gc'] })
    const count = context.requests(50_000)
    context.progress(`signing ${count} tokens`)
    const tokens = await moreTokens(context, child.ready.headers['authorization'] ?? '', count)
    const samples = await sampled(context, child, tokens)
    const first = samples.slice(0, samplesAMillion)
    const second = samples.slice(samplesAMillion)
    return {
      tables: [
        {
          head: ['requests', 'resident MiB', 'used heap MiB'],
          rows: samples.map(({ requests, rss, heap }) => [
            requests.toLocaleString('en'),
            rounded(rss),
            rounded(heap),
          ]),
          note:
            'A protected Fastify route with the denylist in the process, 50,000 access tokens drawn in turn, on 64 ' +
            'connections. Each sample is taken after a garbage collection. Growth compares the greatest samples.',
        },
      ],
      figures: [
        {
          goal: 'P17',
          what: 'resident memory after a million requests of 50,000 tokens',
          values: first.slice(-1).map(({ rss }) => rss),
          unit: 'MiB',
        },
        {
          goal: 'P17',
          what: 'resident memory that the second million adds, in whole MiB',
          values: [growth(first, second, 'rss')],
          unit: 'MiB',
          atMost: 0,
        },
        {
          goal: 'P17',
          what: 'used heap that the second million adds, in whole MiB',
          values: [growth(first, second, 'heap')],
          unit: 'MiB',
          atMost: 0,
        },
      ],
    }
  },
}

async function sampled(
  context: Context,
  child: Child<Served>,
  tokens: readonly string[],
): Promise<readonly Sample[]> {
  const client = httpClient(child.ready.port)
  const slice = context.requests(million / samplesAMillion)
  const samples: Sample[] = []
  let sent = 0
  while (samples.length < 2 * samplesAMillion) {
    await client.slice({
      requests: slice,
      connections: 64,
      next() {
        sent += 1
        return requestBytes('GET', '/me', { authorization: tokens[sent % tokens.length] ?? '' })
      },
      seen({ status }) {
        if (status !== 200) throw new Error(`a request was answered with ${status}`)
      },
    })
    context.progress(`${sent} requests`)
    const { rss, heapUsed } = await child.memory()
    samples.push({ requests: sent, rss: rss / mebibyte, heap: heapUsed / mebibyte })
  }
  client.close()
  return samples
}

function growth(
  first: readonly Sample[],
  second: readonly Sample[],
  which: 'rss' | 'heap',
): number {
  const greatest = (samples: readonly Sample[]) =>
    Math.max(...samples.map((sample) => sample[which]))
  return Math.max(0, Math.round(greatest(second) - greatest(first)))
}

/** Tokens like the given one for other people and sessions, as `Authorization` values. */
async function moreTokens(
  context: Context,
  authorization: string,
  count: number,
): Promise<readonly string[]> {
  const [head = '', claims = ''] = authorization.replace('Bearer ', '').split('.')
  const known: object = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8'))
  const key = createPrivateKey(context.key.privatePem)
  const made: string[] = []
  const lane = async (): Promise<void> => {
    while (made.length < count) {
      const place = made.push('') - 1
      const own = { ...known, sub: randomUUID(), sid: randomUUID(), jti: randomUUID() }
      const input = `${head}.${Buffer.from(JSON.stringify(own)).toString('base64url')}`
      made[place] = `Bearer ${input}.${await signature(input, key)}`
    }
  }
  await Promise.all(Array.from({ length: 4 }, lane))
  return made
}

/** In the thread pool, so that more than one core signs. */
function signature(input: string, key: KeyObject): Promise<string> {
  return new Promise((resolve, reject) => {
    sign('RSA-SHA256', Buffer.from(input), key, (error, bytes) => {
      if (error) reject(error)
      else resolve(bytes.toString('base64url'))
    })
  })
}
