import { setTimeout as wait } from 'node:timers/promises'
import { createLocalJWKSet, jwtVerify } from 'jose'
import pg from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { postgres } from '../../adapters/postgres/index.js'
import { collectionsOf } from '../../src/model/collections.js'
import { textOf } from '../support/hosts/http-client.js'
import { onDatabase, type PostgresServer, spawnPostgres } from '../support/stores/postgres.js'
import { figure } from './figures.js'
import { type Host, type Login, outcomeOf } from './host-client.js'
import {
  changeProblems,
  deadFamilies,
  type Picture,
  pictureOf,
  staticProblems,
} from './invariants.js'
import { monotonic } from './moving-clock.js'
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

const installed = inject('postgresInstalled')
const title = installed ? 'figure R14' : 'figure R14 (no binaries of Postgres found)'
const { chaosSeconds, chaosStopSeconds, chaosPerSecond, chaosQuietSeconds } = sizes

const second = 1000
const schema = 'chaos'
const poolSize = 10

const allowed: Readonly<Record<string, RegExp>> = {
  refresh: /^(200 (rotated|reissued)|503 session_enforcement_unavailable)$/,
  protected: /^(200|503 (session_enforcement|service)_unavailable)$/,
  login: /^(200|503 service_unavailable)$/,
  logout: /^(204|503 session_enforcement_unavailable)$/,
  // What needs no store has no excuse.
  jwks: /^200$/,
  judged: /^401 audience_mismatch$/,
}

describe.skipIf(!installed)(title, () => {
  it(
    'connections cut all the time, and full stops: only 503, nothing broken',
    async () => {
      const server = await spawnPostgres()
      if (server === null) throw new Error('no binaries')
      onTestFinished(() => server.remove())
      const replica = await startReplica({
        place: { store: 'postgres', url: server.url, schema },
        poolSize,
        durable: true,
      })
      onTestFinished(() => replica.stop())
      const clients: Client[] = []
      for (let n = 0; n < 25; n += 1) clients.push(clientOf(replica, await replica.newLogin()))
      const before = await pictured(server, clients)

      const ending = leaving(replica, await replica.newLogin())
      const published = ['jwks', () => asked(replica, '/v1/auth/client/jwks')] as const
      const ofTen: readonly (readonly [string, Ask])[] = [
        published,
        ['judged', () => judged(replica, clients[0])],
        ['login', ending.login],
        ['logout', ending.logout],
      ]
      const turn = turns(clients)
      const load = steadyLoad(chaosPerSecond, (n) => ofTen[n % 10] ?? turn(n) ?? published)
      const connections = watchConnections(server.url)

      await wait(second)
      const cuts = await cutConnections(server.url, chaosSeconds * second)
      const quiet = [await quietPeriod(load.seen)]
      for (const mode of ['immediate', 'fast'] as const) {
        connections.pause()
        await server.stop(mode)
        await wait(chaosStopSeconds * second)
        await server.start()
        connections.resume()
        quiet.push(await quietPeriod(load.seen))
      }
      await load.stop()
      connections.stop()

      const { seen } = load
      expect(tally(seen.filter(({ kind, outcome }) => !allowed[kind]?.test(outcome)))).toEqual({})
      const failed = seen.filter(({ outcome }) => outcome.startsWith('503'))
      expect(failed.length).toBeGreaterThan(0)
      const recoveries = quiet.map(({ from, until }) => {
        const last = failed.findLast((one) => one.startedAt > from && one.startedAt < until)
        return last === undefined ? 0 : last.startedAt - from
      })
      const late = recoveries.filter((ms, n) => {
        const period = quiet[n]
        return period !== undefined && ms > 2 * second * slowness(seen, period)
      })
      expect(late).toEqual([])
      expect(connections.most()).toBeLessThanOrEqual(poolSize)

      // Every client kept its tokens and is where it was.
      for (const client of clients) expect(await client.refresh()).toMatch(/^200/)
      const after = await pictured(server, clients)
      const tokens = clients.flatMap(({ refreshTokens }) => refreshTokens)
      expect([...changeProblems(before, after), ...staticProblems(after, tokens)]).toEqual([])
      expect(deadFamilies(after)).toEqual([])
      const left = await pictureOfUsers(server, ending.userIds)
      expect(staticProblems(left, [])).toEqual([])
      for (const token of ending.ended) {
        expect(outcomeOf(await replica.me(token))).toBe('401 session_revoked')
      }
      const verified = await verifyAll(replica, clients)

      const stateless = seen.filter(({ kind }) => kind === 'jwks' || kind === 'judged').length
      figure(
        'R14',
        'a Postgres in chaos',
        `${cuts} times all connections cut in ${chaosSeconds} s, then two full stops of ` +
          `${chaosStopSeconds} s, at ${chaosPerSecond} requests a second: ${seen.length} requests, ` +
          `${failed.length} of them 503 and no other failure; ${stateless} requests that need no ` +
          `store and ${verified} tokens verified, 100 %; 0 invariants violated, ${clients.length} ` +
          `of ${clients.length} sessions went on, ${ending.ended.length} ended ones stayed ended; ` +
          `the last 503 ${recoveries.map((ms) => `${Math.round(ms)} ms`).join(', ')} after quiet ` +
          `returned; at most ${connections.most()} connections of ${poolSize}`,
      )
    },
    (chaosSeconds + 2 * chaosStopSeconds + 300) * second,
  )
})

interface Period {
  readonly from: number
  readonly until: number
}

/**
 * Nothing is done to the server, for a while and until requests have been answered for as long as a
 * recovery may take, a minute at most. A request that meets its next stop is not of the period.
 */
async function quietPeriod(seen: readonly Observed[]): Promise<Period> {
  const from = monotonic()
  await wait(chaosQuietSeconds * second)
  const isOver = () => {
    const last = seen.findLast(({ outcome }) => outcome.startsWith('503'))
    return monotonic() - Math.max(from, last?.endedAt ?? 0) > 2 * second
  }
  while (!isOver() && monotonic() - from < 60 * second) await wait(100)
  return { from, until: monotonic() - second / 10 }
}

/**
 * How many times slower than an idle machine this one was: by the requests that need no store, whose
 * time is the machine's and not the store's. 1 for any machine that is fast enough.
 */
function slowness(seen: readonly Observed[], { from, until }: Period): number {
  const times = seen
    .filter(({ kind }) => kind === 'jwks' || kind === 'judged')
    .filter(({ startedAt }) => startedAt > from && startedAt < until)
    .map(({ startedAt, endedAt }) => endedAt - startedAt)
    .toSorted((a, b) => a - b)
  return Math.max(1, (times[Math.floor(times.length / 2)] ?? 0) / 25)
}

async function asked(host: Host, path: string): Promise<string> {
  try {
    return outcomeOf(await host.send('GET', path))
  } catch {
    return 'none'
  }
}

/** A genuine token at the other surface: signature and audience are all that is looked at. */
async function judged(host: Host, client: Client | undefined): Promise<string> {
  const bearer = client?.held.accessToken ?? ''
  try {
    return outcomeOf(await host.send('GET', '/v1/auth/operator/me', { bearer }))
  } catch {
    return 'none'
  }
}

/** Sessions that are opened to be ended. */
function leaving(host: Host, { userId, email, password }: Login) {
  const ended: string[] = []
  const open: string[] = []
  return {
    userIds: new Set([userId]),
    ended,
    async login(): Promise<string> {
      const body = { email, password }
      const reply = await host.send('POST', '/v1/auth/client/mobile/login', { body })
      if (reply.status === 200) open.push(textOf(reply.json(), 'accessToken'))
      return outcomeOf(reply)
    },
    /** Tried again until it succeeds, as by a person who means it. */
    async logout(): Promise<string> {
      const token = open.shift()
      if (token === undefined) return '204'
      const reply = await host.logout(token)
      if (reply.status === 204) ended.push(token)
      else open.unshift(token)
      return outcomeOf(reply)
    },
  }
}

/** Cuts every connection but its own, twice a second; how often it did. */
async function cutConnections(url: string, forMs: number): Promise<number> {
  let cuts = 0
  await onDatabase(url, async (client) => {
    const until = monotonic() + forMs
    while (monotonic() < until) {
      await client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where backend_type = 'client backend' and pid <> pg_backend_pid()
         and application_name <> 'watch'`,
      )
      cuts += 1
      await wait(500)
    }
  })
  return cuts
}

/** Samples how many connections the replica has. */
function watchConnections(url: string) {
  let most = 0
  let isPaused = false
  let client: pg.Client | null = null

  async function look(): Promise<void> {
    if (isPaused) return
    if (client === null) {
      const fresh = new pg.Client({ connectionString: url, application_name: 'watch' })
      fresh.on('error', () => {})
      await fresh.connect()
      client = fresh
    }
    const { rows } = await client.query(
      `select count(*)::int as n from pg_stat_activity where backend_type = 'client backend'
       and pid <> pg_backend_pid() and application_name like 'replica %'`,
    )
    most = Math.max(most, Number(rows[0]?.n))
  }
  const forget = (): void => {
    void client?.end().catch(() => {})
    client = null
  }
  const timer = setInterval(() => void look().catch(forget), 100)
  return {
    most: () => most,
    pause() {
      isPaused = true
      forget()
    },
    resume() {
      isPaused = false
    },
    stop() {
      clearInterval(timer)
      forget()
    },
  }
}

function pictured(server: PostgresServer, clients: readonly Client[]): Promise<Picture> {
  return pictureOfUsers(server, new Set(clients.map(({ login }) => login.userId)))
}

async function pictureOfUsers(
  { url }: PostgresServer,
  userIds: ReadonlySet<string>,
): Promise<Picture> {
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  try {
    const { store, denylist } = postgres(pool, { schema })
    const stored = collectionsOf(store, 'client', '')
    return await pictureOf({ surface: 'client', stored, denylist }, userIds)
  } finally {
    await pool.end()
  }
}

/** Every token the clients were given verifies with the published keys. */
async function verifyAll(host: Host, clients: readonly Client[]): Promise<number> {
  const reply = await host.send('GET', '/v1/auth/client/jwks')
  const keys = createLocalJWKSet(JSON.parse(reply.text))
  const tokens = clients.flatMap(({ held, refreshTokens }) => [held.accessToken, ...refreshTokens])
  for (const token of tokens) await jwtVerify(token, keys, { algorithms: ['RS256'] })
  return tokens.length
}
