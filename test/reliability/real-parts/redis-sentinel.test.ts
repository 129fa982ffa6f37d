import { Redis } from 'ioredis'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { redis } from '../../../adapters/redis/index.js'
import { sendOnce, withServer } from '../../support/stores/redis-clients.js'
import { startHost } from '../host.js'
import { hostAt } from '../host-client.js'
import { lineFrom } from '../moving-clock.js'
import { newKey } from '../replicas.js'
import { newLogins, tally } from './endings-amid.js'
import { spawnWatchedRedis } from './redis-sentinels.js'

const found = inject('redisInstalled')
const title = found ? 'a failover of redis' : 'a failover of redis (no redis-server found)'

describe.skipIf(!found)(title, () => {
  it('what had reached the replica holds after it, and meanwhile all is 503', async () => {
    const { name, sentinels, primary, ...watched } = await spawnWatchedRedis({
      appendonly: 'yes',
      appendfsync: 'always',
    })
    onTestFinished(() => watched.remove())
    const client = new Redis({ ...sendOnce, lazyConnect: true, sentinels: [...sentinels], name })
    client.on('error', () => {})
    await client.connect()
    onTestFinished(() => client.disconnect())
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
    const leaving = await newLogins(host, 20)
    expect(await tally(leaving, ({ accessToken }) => host.logout(accessToken))).toEqual({
      '204': 20,
    })
    // What a failover does not take along is lost: the page on Redis says so.
    await withServer(primary.url, async (plain) => {
      await expect.poll(() => plain.wait(1, 1000)).toBe(1)
    })

    await primary.stop('SIGKILL')
    expect(await tally(staying, ({ accessToken }) => host.me(accessToken))).toEqual({
      '503 session_enforcement_unavailable': 20,
    })
    expect(await tally(staying, ({ refreshToken }) => host.refresh(refreshToken))).toEqual({
      '503 session_enforcement_unavailable': 20,
    })
    // Nobody tells the host: its client asks the sentinels.
    const first = async () => (await host.me(staying[0]?.accessToken ?? '')).status
    await expect.poll(first).toBe(200)
    expect(await tally(staying, ({ accessToken }) => host.me(accessToken))).toEqual({ '200': 20 })
    expect(await tally(staying, ({ refreshToken }) => host.refresh(refreshToken))).toEqual({
      '200 rotated': 20,
    })
    const gone = { '401 session_revoked': 20 }
    expect(await tally(leaving, ({ accessToken }) => host.me(accessToken))).toEqual(gone)
    expect(await tally(leaving, ({ refreshToken }) => host.refresh(refreshToken))).toEqual(gone)
  })
})
