import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { redis } from '../../../adapters/redis/index.js'
import { spawnRedis } from '../../support/stores/redis.js'
import { singleClients } from '../../support/stores/redis-clients.js'
import { startHost } from '../host.js'
import { hostAt } from '../host-client.js'
import { lineFrom } from '../moving-clock.js'
import { newKey } from '../replicas.js'
import { newLogins, tally } from './endings-amid.js'

const found = inject('redisInstalled')
const title = found ? 'a redis whose disk is full' : 'a redis whose disk is full (no server found)'

describe.skipIf(!found)(title, () => {
  it('takes no write, which is 503, and goes on where it was when there is room', async () => {
    const server = await spawnRedis(
      { appendonly: 'yes', appendfsync: 'everysec', 'auto-aof-rewrite-percentage': '0' },
      { mostBytes: 1_000_000 },
    )
    onTestFinished(() => server.remove())
    const { client, close } = await singleClients['node-redis'](server.url)
    onTestFinished(close)
    const options = { sweep: false, trustProxy: 1 } as const
    const running = await startHost(
      redis(client),
      { current: newKey() },
      { clock: lineFrom(Date.now()), options, planted: null },
    )
    const host = hostAt(running.url)
    onTestFinished(async () => {
      host.hangUp()
      await running.close()
    })
    const staying = await newLogins(host, 20)
    const [ended] = await newLogins(host, 1)
    if (ended === undefined) throw new RangeError('nobody')
    expect((await host.logout(ended.accessToken)).status).toBe(204)

    const outcomes = new Set<number>()
    let used = { ...staying[0] }
    while (!outcomes.has(503)) {
      const reply = await host.send('POST', '/v1/auth/client/login', {
        body: { email: used.email, password: used.password },
        from: `10.9.${outcomes.size}.1`,
      })
      outcomes.add(reply.status)
    }
    expect([...outcomes]).toEqual([200, 503])
    expect(await tally(staying, ({ refreshToken }) => host.refresh(refreshToken))).toEqual({
      '503 session_enforcement_unavailable': 20,
    })
    expect((await host.me(ended.accessToken)).status).not.toBe(200)

    await server.makeRoom()
    used = { ...staying[1] }
    const again = async () => (await host.refresh(used.refreshToken ?? '')).status
    await expect.poll(again).toBe(200)
    expect(await tally(staying.slice(2), ({ refreshToken }) => host.refresh(refreshToken))).toEqual(
      { '200 rotated': 18 },
    )
    expect((await host.me(ended.accessToken)).code).toBe('session_revoked')
    expect((await host.refresh(ended.refreshToken)).code).toBe('session_revoked')
  })
})
