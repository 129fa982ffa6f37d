import pg from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { postgres } from '../../adapters/postgres/index.js'
import { redis } from '../../adapters/redis/index.js'
import { allCollectionSpecs } from '../../src/model/collections.js'
import type { Backend } from '../../src/ports/backend.js'
import { spawnRedis } from '../support/stores/redis.js'
import { singleClients } from '../support/stores/redis-clients.js'
import { figure } from './figures.js'
import { startHost } from './host.js'
import { hostAt, type Login, outcomeOf } from './host-client.js'
import { lineFrom } from './moving-clock.js'
import { newKey, newSchema } from './replicas.js'
import { sizes } from './sizes.js'
import { inLanes } from './stores.js'

const found = inject('postgresUrl') !== null && inject('redisInstalled')
const title = found ? 'figure R13' : 'figure R13 (Postgres and a Redis to kill not found)'
const sessions = sizes.lostSessions
const accessTokenTtl = 15 * 60 * 1000

/** Users and refresh rows where they last; what is asked on every request, and counted, is not. */
async function openBackend(redisUrl: string): Promise<Backend> {
  const url = inject('postgresUrl') ?? ''
  const pool = new pg.Pool({ connectionString: url, max: 10 })
  const { client, close } = await singleClients['node-redis'](redisUrl)
  onTestFinished(async () => {
    await close()
    await pool.end()
  })
  const durable = postgres(pool, { schema: newSchema(url) })
  const quick = redis(client)
  const { denylist, counter } = quick
  const store: Backend['store'] = {
    collection: (spec) => durable.store.collection(spec),
    async prepare(specs) {
      await durable.store.prepare(specs)
      await quick.store.prepare([])
    },
  }
  return { ...durable, store, denylist, counter }
}

describe.skipIf(!found)(title, () => {
  it(`${sessions} sessions that were signed out stay so when Redis loses everything`, async () => {
    const server = await spawnRedis()
    onTestFinished(() => server.remove())
    const backend = await openBackend(server.url)
    const config = {
      clock: lineFrom(Date.now()),
      options: { sweep: false, trustProxy: 1 },
      planted: null,
    } as const
    const running = await startHost(backend, { current: newKey() }, config)
    const host = hostAt(running.url)
    onTestFinished(async () => {
      host.hangUp()
      await running.close()
    })

    const logins: Login[] = []
    await inLanes(sessions, 8, async (n) => {
      const from = `10.1.${n >> 8}.${n & 255}`
      const login = await host.newLogin({ from })
      logins.push(login)
      expect((await host.logout(login.accessToken)).status).toBe(204)
    })
    const live = await host.newLogin({ from: '10.2.0.1' })
    expect(await tally(logins, ({ accessToken }) => host.me(accessToken))).toEqual({
      '401 session_revoked': sessions,
    })

    await server.stop('SIGKILL')
    // Neither signed out nor let in.
    const outage = [await host.me(live.accessToken), await host.refresh(live.refreshToken)]
    expect(outage.map(outcomeOf)).toEqual([
      '503 session_enforcement_unavailable',
      '503 session_enforcement_unavailable',
    ])
    await server.start()
    // Empty, and known to be: nothing is decided by a list on which nobody is.
    const reached = { timeout: 60_000, interval: 50 }
    const why = async () => String(await backend.denylist.find(['x']).catch((error) => error.name))
    await expect.poll(why, reached).toBe('NotMigratedError')
    const unprepared = await tally(logins, async ({ accessToken, refreshToken }) => {
      const [protectedRoute, refreshed] = [
        await host.me(accessToken),
        await host.refresh(refreshToken),
      ]
      return protectedRoute.status === refreshed.status ? refreshed : protectedRoute
    })
    expect(unprepared).toEqual({ '503 session_enforcement_unavailable': sessions })

    // As `auth.migrate()` of the next process that starts does.
    await backend.store.prepare(allCollectionSpecs(''))
    expect(await tally(logins, ({ refreshToken }) => host.refresh(refreshToken))).toEqual({
      '401 session_revoked': sessions,
    })
    // Only the denylist told of them; what bounds it is their lifetime.
    const accepted = (await tally(logins, ({ accessToken }) => host.me(accessToken)))['200'] ?? 0
    const aheadMs = accessTokenTtl
    expect(await tally(logins, ({ accessToken }) => host.me(accessToken, { aheadMs }))).toEqual({
      '401': sessions,
    })
    expect((await host.refresh(live.refreshToken)).status).toBe(200)
    figure(
      'R13',
      'a Redis that loses denylist and counters',
      `${sessions} sessions signed out, the Redis of denylist and counters killed and started empty, ` +
        `users and refresh rows in Postgres: 503 while it was gone and while it was empty; once it was ` +
        `prepared anew, 0 of them refreshed again; ${accepted} access tokens from before the sign-outs ` +
        'were good once more, and none 15 minutes after it was minted, which is as long as one lives; ' +
        'a session that went on was refreshed',
    )
  }, 600_000)
})

type Ask = (login: Login) => Promise<Parameters<typeof outcomeOf>[0]>

/** How often each outcome came. */
async function tally(logins: readonly Login[], ask: Ask): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  await inLanes(logins.length, 8, async (n) => {
    const login = logins[n]
    if (login === undefined) throw new RangeError('there are none')
    const outcome = outcomeOf(await ask(login))
    counts[outcome] = (counts[outcome] ?? 0) + 1
  })
  return counts
}
