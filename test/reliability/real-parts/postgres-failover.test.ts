import pg from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { postgres } from '../../../adapters/postgres/index.js'
import { switchProxy } from '../../support/hosts/line-proxy.js'
import { onDatabase, spawnPostgres, spawnStandby } from '../../support/stores/postgres.js'
import { startHost } from '../host.js'
import { hostAt } from '../host-client.js'
import { lineFrom } from '../moving-clock.js'
import { newKey } from '../replicas.js'
import { newLogins, signOutAmid, tally } from './endings-amid.js'

const installed = inject('postgresInstalled')
const title = installed ? 'a failover of postgres' : 'a failover of postgres (no binaries found)'

/** A primary that answers a commit when its standby has it too. */
async function openPair() {
  const primary = await spawnPostgres()
  if (primary === null) throw new Error('no binaries')
  onTestFinished(() => primary.remove())
  const standby = await spawnStandby(primary.url)
  onTestFinished(() => standby.remove())
  await onDatabase(primary.url, async (client) => {
    await client.query(`alter system set synchronous_standby_names = '*'`)
    await client.query('select pg_reload_conf()')
    const state = async () =>
      (await client.query('select sync_state from pg_stat_replication')).rows[0]?.sync_state
    await expect.poll(state).toBe('sync')
  })
  return { primary, standby }
}

describe.skipIf(!installed)(title, () => {
  it('what was acknowledged before it holds after it, and meanwhile all is 503', async () => {
    const { primary, standby } = await openPair()
    const proxy = await switchProxy(Number(new URL(primary.url).port))
    onTestFinished(() => proxy.close())
    const pool = new pg.Pool({
      connectionString: `postgres://postgres@127.0.0.1:${proxy.port}/postgres`,
      max: 10,
    })
    pool.on('error', () => {})
    onTestFinished(() => pool.end())
    const options = { sweep: false, trustProxy: 1 } as const
    const running = await startHost(
      postgres(pool, { schema: 'failover' }),
      { current: newKey() },
      { clock: lineFrom(Date.now()), options, planted: null },
    )
    const host = hostAt(running.url)
    onTestFinished(async () => {
      host.hangUp()
      await running.close()
    })
    const staying = await newLogins(host, 20)
    const leaving = await newLogins(host, 30)
    const { ended, unclear } = await signOutAmid(host, leaving, () => primary.stop('immediate'))
    expect(ended.length).toBeGreaterThanOrEqual(10)
    expect(unclear.length).toBeGreaterThan(0)
    // Neither signed out nor let in.
    expect(await tally(staying, ({ accessToken }) => host.me(accessToken))).toEqual({
      '503 session_enforcement_unavailable': 20,
    })
    expect(await tally(staying, ({ refreshToken }) => host.refresh(refreshToken))).toEqual({
      '503 session_enforcement_unavailable': 20,
    })

    await standby.promote()
    proxy.leadTo(Number(new URL(standby.url).port))
    const first = async () => (await host.me(staying[0]?.accessToken ?? '')).status
    await expect.poll(first).toBe(200)
    expect(await tally(staying, ({ accessToken }) => host.me(accessToken))).toEqual({ '200': 20 })
    expect(await tally(staying, ({ refreshToken }) => host.refresh(refreshToken))).toEqual({
      '200 rotated': 20,
    })
    const gone = { '401 session_revoked': ended.length }
    expect(await tally(ended, ({ accessToken }) => host.me(accessToken))).toEqual(gone)
    expect(await tally(ended, ({ refreshToken }) => host.refresh(refreshToken))).toEqual(gone)
    // One whose logout was answered 503 is signed out by the next attempt, whatever the first had written.
    await tally(unclear, ({ accessToken }) => host.logout(accessToken))
    expect(await tally(unclear, ({ refreshToken }) => host.refresh(refreshToken))).toEqual({
      '401 session_revoked': unclear.length,
    })
  })
})
