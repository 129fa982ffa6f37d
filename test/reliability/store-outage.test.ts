import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { collectionsOf } from '../../src/model/collections.js'
import { figure } from './figures.js'
import { type Host, type Login, outcomeOf } from './host-client.js'
import { monotonic } from './moving-clock.js'
import { type OwnStore, ownStores } from './own-stores.js'
import { startReplica } from './replicas.js'
import { sizes } from './sizes.js'
import {
  type Ask,
  type Client,
  clientOf,
  type Observed,
  steadyLoad,
  tally,
  turns,
} from './steady-load.js'

const { outageSeconds, outagePerSecond, outageWarmUpSeconds, outageSettleSeconds } = sizes

const second = 1000
const megabyte = 1024 * 1024
const graceMs = 10 * second

const unavailable = /^503 (service_unavailable|session_enforcement_unavailable)$/
const good = /^200/

/** What each kind may be answered at any time. A live session is never 401, an ended one never 200. */
const allowed: Readonly<Record<string, RegExp>> = {
  refresh: /^(200 (rotated|reissued)|503 session_enforcement_unavailable)$/,
  protected: /^(200|503 session_enforcement_unavailable|503 service_unavailable)$/,
  login: /^(200|503 service_unavailable)$/,
  ended: /^(401 session_revoked|503 session_enforcement_unavailable)$/,
}

async function signedIn(host: Host, count: number): Promise<Login[]> {
  const logins: Login[] = []
  for (let n = 0; n < count; n += 1) logins.push(await host.newLogin())
  return logins
}

describe.each(ownStores)('figure R12', ({ name, missing, spawn }) => {
  it.skipIf(missing !== null)(
    `a ${name} that is gone under load signs nobody out and lets nobody in${missing ?? ''}`,
    async () => {
      const server = await spawn()
      onTestFinished(() => server.remove())
      const replica = await startReplica({
        place: server.place,
        poolSize: 20,
        durable: true,
        // With plenty of memory V8 hardly collects, and the figure would be one of its patience.
        smallHeap: true,
      })
      onTestFinished(() => replica.stop())

      const clients = (await signedIn(replica, 60)).map((login) => clientOf(replica, login))
      const ended = await signedIn(replica, 10)
      for (const { accessToken } of ended) await replica.logout(accessToken)
      const passing = await replica.newLogin()

      const turn = turns(clients)
      const load = steadyLoad(outagePerSecond, (n) => {
        // Few enough for the limit on sign-ins from one address.
        if (n % 25 === 0) return ['login', signIn(replica, passing)]
        if (n % 10 === 9) return ['ended', ask(replica, ended[n % ended.length])]
        return turn(n) ?? ['ended', ask(replica, ended[0])]
      })
      const memory = watchMemory(replica)
      await wait(outageWarmUpSeconds * second)
      const before = memory.take()

      const stopCalledAt = { epoch: Date.now(), at: monotonic() }
      await server.kill()
      const goneAt = monotonic()
      await wait(outageSeconds * second)
      const startedAt = monotonic()
      await server.start()
      const backAt = monotonic()
      await wait(outageSettleSeconds * second)
      await load.stop()
      const { peak, live } = memory.take()
      const growth = peak - before.peak
      memory.stop()

      const { seen } = load
      const lost = await signedOutByTheOutage(server, clients, seen, stopCalledAt.epoch)
      const wrong = seen.filter(
        ({ kind, outcome }) => !allowed[kind]?.test(outcome) && !lost.outcomes.has(outcome),
      )
      expect(tally(wrong)).toEqual({})
      expect(lost.unexplained).toEqual([])

      const during = seen.filter((one) => one.startedAt > goneAt && one.endedAt < startedAt)
      expect(during.length).toBeGreaterThan(outageSeconds * outagePerSecond * 0.8)
      expect(tally(during.filter(({ outcome }) => !unavailable.test(outcome)))).toEqual({})

      const last = seen.findLast(({ outcome }) => unavailable.test(outcome))
      const recovery = (last?.startedAt ?? backAt) - backAt
      expect(recovery).toBeLessThanOrEqual(5 * second)
      expect(growth).toBeLessThanOrEqual(50 * megabyte)

      // Whoever kept the token signs in nowhere anew.
      const survivors = clients.filter((client) => !lost.explained.includes(client))
      for (const client of survivors) expect(await client.refresh()).toMatch(good)
      figure(
        'R12',
        `a ${name} killed under load`,
        `${outageSeconds} s of outage under ${outagePerSecond} requests a second: ` +
          `${during.length} requests meanwhile, all 503; 0 live sessions refused, 0 ended ones ` +
          `accepted in ${seen.length} requests; the last 503 ${Math.max(0, Math.round(recovery))} ms ` +
          `after the server was back; ${survivors.length} of ${clients.length} sessions went on with ` +
          `the token they held, ${lost.explained.length} fell under the stated bound (their write ` +
          `took effect as the server died, ${outageSeconds} s before the retry; the window is ` +
          `${graceMs / second} s); the process grew by ${inMegabytes(growth)}, what is live in it by ${inMegabytes(live - before.live)}`,
      )
    },
    (outageSeconds + 120) * second,
  )
})

function signIn(host: Host, { email, password }: Login): Ask {
  const body = { email, password }
  return async () => outcomeOf(await host.send('POST', '/v1/auth/client/mobile/login', { body }))
}

function ask(host: Host, login: Login | undefined): Ask {
  return async () => outcomeOf(await host.me(login?.accessToken ?? ''))
}

/** How large a host's process gets, and how small its heap after a collection. */
function watchMemory(host: Host) {
  let peak = 0
  let live = Number.POSITIVE_INFINITY
  const look = async (): Promise<void> => {
    const { rssBytes, heapUsedBytes } = await host.control('state', null)
    peak = Math.max(peak, rssBytes)
    live = Math.min(live, heapUsedBytes)
  }
  const timer = setInterval(() => void look(), 250)
  return {
    /** Since the last time it was taken. */
    take() {
      const taken = { peak, live }
      peak = 0
      live = Number.POSITIVE_INFINITY
      return taken
    },
    stop: () => clearInterval(timer),
  }
}

const inMegabytes = (bytes: number): string => `${Math.round(bytes / megabyte)} MB`

/**
 * The one way to lose a session: the server carried out a refresh and died before it said so, and
 * was gone for longer than the window. Such a row is one generation ahead of its client, and was
 * written as the server died.
 */
async function signedOutByTheOutage(
  server: OwnStore,
  clients: readonly Client[],
  seen: readonly Observed[],
  diedAt: number,
) {
  const refused = seen.filter(({ kind, outcome }) => kind !== 'ended' && outcome.startsWith('401'))
  const explained: Client[] = []
  const unexplained: string[] = []
  if (refused.length > 0) {
    const { backend, close } = await server.open()
    try {
      const { families } = collectionsOf(backend.store, 'client', '')
      for (const client of clients) {
        const row = await families.get(client.login.sessionId)
        if (row?.revokedAt === null) continue
        const ahead = row?.generation === client.held.generation + 1
        const asItDied = Math.abs((row?.rotatedAt ?? 0) - diedAt) < 2 * second
        if (ahead && asItDied && outageSeconds * second >= graceMs) explained.push(client)
        else unexplained.push(client.login.sessionId)
      }
    } finally {
      await close()
    }
  }
  const outcomes = new Set(
    explained.length > 0 ? ['401 refresh_token_reused', '401 session_revoked'] : [],
  )
  return { explained, unexplained, outcomes }
}
