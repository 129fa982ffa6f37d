import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import type { Draw } from '../fuzz/fuzz.js'
import { exchange } from './malformed/exchange.js'
import type { HostMessage, Known, Measured } from './malformed/messages.js'
import { broken, pipelined } from './malformed/requests.js'
import { randomOf } from './random-of.js'

/** With the variable `MALFORMED_RUNS`, so many for the first framework and a tenth for each other. */
const given = process.env['MALFORMED_RUNS']
const seed = process.env['MALFORMED_SEED'] ?? '1'
const runsOf = (framework: string): number => {
  if (given === undefined) return 20_000
  return framework === 'express' ? Number(given) : Math.ceil(Number(given) / 10)
}
const timeout = given === undefined ? 90_000 : 4 * 60 * 60 * 1000

const perConnection = 50
/** Until then the heap grows by compiled code, and by tables that are made once. */
const settling = 6000
const connections = 4
/** Long runs outlast an access token. */
const perPerson = 20_000

const hooks = new URL('../support/module-hooks.mjs', import.meta.url)

function start(framework: string) {
  const program = fileURLToPath(new URL('malformed/host.ts', import.meta.url))
  const child = fork(program, [framework], {
    execArgv: ['--expose-gc', '--import', hooks.href],
    env: {},
  })
  onTestFinished(() => void child.kill())
  const died = new Promise<never>((_, reject) => {
    child.once('exit', (code, signal) => reject(new Error(`the host ended: ${code ?? signal}`)))
  })
  died.catch(() => {})
  const next = (): Promise<HostMessage> =>
    Promise.race([new Promise<HostMessage>((resolve) => child.once('message', resolve)), died])
  const ask = (what: 'known' | 'measure') => {
    const answer = next()
    child.send(what)
    return answer
  }
  return { next, ask, died }
}

type Host = ReturnType<typeof start>

async function knownOf(host: Host): Promise<Known> {
  const message = await host.ask('known')
  if (!('known' in message)) throw new Error('the host answered something else')
  return message.known
}

async function measuredOf(host: Host): Promise<Measured> {
  const message = await host.ask('measure')
  if (!('measured' in message)) throw new Error('the host answered something else')
  return message.measured
}

/** What was sent, and the replies by status. */
interface Counted {
  sent: number
  readonly statuses: Map<number, number>
}

/** One connection: whole requests, each of which has to be answered, or one that is broken. */
async function connection(draw: Draw, known: Known, port: number, counted: Counted): Promise<void> {
  const isWhole = draw(5) > 0
  const count = isWhole ? perConnection : 1
  const bytes = isWhole ? pipelined(draw, known, count) : broken(draw, known)
  counted.sent += count
  const { statuses, isClosing } = await exchange(port, bytes, !isWhole)
  // Fastify takes no more from a connection whose request it could not read itself.
  if (isWhole) expect([statuses.length === count, isClosing]).toContain(true)
  for (const status of statuses) {
    counted.statuses.set(status, (counted.statuses.get(status) ?? 0) + 1)
  }
}

/** Sends `runs` requests of a seed, or a few more. */
async function send(host: Host, port: number, runs: number, name: string): Promise<Counted> {
  const next = randomOf(name)
  const draw = (below: number) => Math.floor(next() * below)
  const counted: Counted = { sent: 0, statuses: new Map() }
  let known = await knownOf(host)
  let person = 0
  while (counted.sent < runs) {
    if (counted.sent - person >= perPerson) {
      known = await knownOf(host)
      person = counted.sent
    }
    const all = Array.from({ length: connections }, () => connection(draw, known, port, counted))
    await Promise.race([Promise.all(all), host.died])
  }
  return counted
}

it.each(['express', 'fastify', 'koa', 'fetch'])(
  'requests that are not as they should be end no process on %s, and leave nothing behind',
  async (framework) => {
    const host = start(framework)
    const started = await host.next()
    if (!('url' in started)) throw new Error('the host did not start')
    const port = Number(new URL(started.url).port)

    const early = await send(host, port, settling, `${seed} at first`)
    const before = await measuredOf(host)
    const late = await send(host, port, runsOf(framework) - settling, seed)
    const after = await measuredOf(host)

    const sent = early.sent + late.sent
    const statuses = [...early.statuses, ...late.statuses]
    const parsed = after.parsed / sent
    const growth = after.heap / before.heap - 1
    console.log(
      `${framework}: ${sent} requests, ${Math.round(parsed * 100)} % read by a parser, replies ${JSON.stringify(Object.fromEntries(late.statuses))}, heap ${(growth * 100).toFixed(1)} %`,
    )
    expect(statuses.filter(([status]) => status > 499 && status !== 503)).toEqual([])
    expect(parsed).toBeGreaterThan(0.3)
    expect(after.errors).toBe(0)
    expect(growth).toBeLessThan(0.05)
  },
  timeout,
)
