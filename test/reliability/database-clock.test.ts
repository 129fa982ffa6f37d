import { existsSync, globSync } from 'node:fs'
import pg from 'pg'
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest'
import { memory } from '../../adapters/memory/index.js'
import { postgres } from '../../adapters/postgres/index.js'
import type { Backend } from '../../src/ports/backend.js'
import { spawnPostgres } from '../support/stores/postgres.js'
import { recordingClient } from '../support/stores/recording-client.js'
import { figure } from './figures.js'
import { startHost } from './host.js'
import { grantOf, type Host, hostAt, outcomeOf } from './host-client.js'
import { stoppedAt } from './moving-clock.js'
import { newKey, newSchema } from './replicas.js'
import { describeOn } from './stores.js'

const second = 1000
const hour = 3600 * second
const day = 24 * hour
/** About what the server shows, so that an hour is an hour. A whole second. */
const present = Math.ceil(Date.now() / second) * second

/**
 * Decisions that depend on time, at their edges. Each case ends in the present, where an hour more
 * or less would change it.
 */
async function decisions(host: Host): Promise<readonly string[]> {
  const found: string[] = []
  let start = present
  const setClock = (age: number) => host.control('setClock', stoppedAt(start + age))
  /** Signs in so long ago. */
  const login = async (ago: number) => {
    start = present - ago
    await setClock(0)
    return host.newLogin()
  }
  async function refreshAt(age: number, refreshToken: string): Promise<void> {
    await setClock(age)
    found.push(outcomeOf(await host.refresh(refreshToken)))
  }

  const racing = await login(10 * second)
  await refreshAt(0, racing.refreshToken)
  await refreshAt(10 * second - 1, racing.refreshToken)
  await refreshAt(10 * second, racing.refreshToken)

  const idle = await login(7 * day)
  await refreshAt(7 * day, idle.refreshToken)
  await refreshAt(7 * day - 1, idle.refreshToken)

  const old = await login(8 * day)
  await setClock(6 * day)
  const { refreshToken } = grantOf(await host.refresh(old.refreshToken))
  await refreshAt(8 * day, refreshToken)
  await refreshAt(8 * day + 1, grantOf(await host.refresh(refreshToken)).refreshToken)

  const leaving = await login(day)
  found.push(outcomeOf(await host.logout(leaving.accessToken)))
  await setClock(day - 1)
  found.push(outcomeOf(await host.me(leaving.accessToken)))

  start = present - 60 * second
  const guess = { email: 'nobody@example.org', password: 'not the right password' }
  for (const age of [...new Array<number>(11).fill(1), 60 * second + 1]) {
    await setClock(age)
    const reply = await host.send('POST', '/v1/auth/operator/mobile/login', { body: guess })
    found.push(outcomeOf(reply))
  }
  return found
}

const expected = [
  ...['200 rotated', '200 reissued', '401 refresh_token_reused'],
  ...['401 refresh_token_expired', '200 rotated'],
  ...['200 rotated', '401 session_max_age_reached'],
  ...['204', '401 session_revoked'],
  ...new Array<string>(10).fill('401 invalid_credentials'),
  ...['429 rate_limited', '401 invalid_credentials'],
]

async function decisionsOn(backend: Backend): Promise<readonly string[]> {
  const settings = { sessionAbsoluteTTL: '192h', accessTokenTTL: '24h', loginRateOperator: 10 }
  const host = await startHost(
    backend,
    { current: newKey() },
    { clock: stoppedAt(present), options: { settings, sweep: false }, planted: null },
  )
  const client = hostAt(host.url)
  onTestFinished(async () => {
    client.hangUp()
    await host.close()
  })
  return decisions(client)
}

function poolOf(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: 5 })
  onTestFinished(() => pool.end())
  return pool
}

const databaseClock =
  /\b(now|clock_timestamp|statement_timestamp|transaction_timestamp|timeofday)\s*\(|\b(current_(timestamp|date|time)|localtime(stamp)?)\b/i

it('decisions at their edges, where no database is', async () => {
  expect(await decisionsOn(memory())).toEqual(expected)
})

describeOn('postgres', 'figure R16: what the database knows of time, postgres', () => {
  const url = inject('postgresUrl') ?? ''

  it("no statement and no column's default asks the database's clock", async () => {
    const schema = newSchema(url)
    const pool = poolOf(url)
    const { client, sent } = recordingClient(pool)
    expect(await decisionsOn(postgres(client, { schema }))).toEqual(expected)
    expect(sent.length).toBeGreaterThan(100)
    expect(sent.map(({ text }) => text).filter((text) => databaseClock.test(text))).toEqual([])
    const defaults = await pool.query(
      `select column_default as text from information_schema.columns
       where table_schema = $1 and column_default is not null`,
      [schema],
    )
    const texts = defaults.rows.map((row: { text: string }) => row.text)
    expect(texts.filter((text) => databaseClock.test(text))).toEqual([])
    figure(
      'R16',
      "the database server's clock is never asked",
      `0 of ${sent.length} statements and 0 column defaults read it`,
    )
  })
})

const [library] = globSync('/usr/lib/*/faketime/libfaketime.so.1')
const canFake = library !== undefined && existsSync(library) && inject('postgresInstalled')

/** A server of one's own whose clock is off, and by how much it really is. */
async function serverOff(offset: string) {
  vi.stubEnv('LD_PRELOAD', library)
  vi.stubEnv('FAKETIME', offset)
  vi.stubEnv('FAKETIME_DONT_FAKE_MONOTONIC', '1')
  try {
    const server = await spawnPostgres()
    if (server === null) throw new Error('no binaries')
    onTestFinished(() => server.remove())
    return server
  } finally {
    vi.unstubAllEnvs()
  }
}

describe.skipIf(!canFake)(
  canFake
    ? 'figure R16: a database server whose clock is an hour off'
    : 'figure R16: a database server whose clock is an hour off (libfaketime not found)',
  () => {
    it.each(['+1h', '-1h'])('by %s: every decision is the same', async (offset) => {
      const server = await serverOff(offset)
      const pool = poolOf(server.url)
      const { rows } = await pool.query('select extract(epoch from now()) * 1000 as shown')
      const off = Number(rows[0]?.shown) - Date.now()
      expect(Math.abs(off - (offset === '+1h' ? hour : -hour))).toBeLessThan(60 * second)
      expect(await decisionsOn(postgres(pool, { schema: 'skewed' }))).toEqual(expected)
      figure(
        'R16',
        `a database server whose clock is off by ${offset}`,
        `${expected.length} decisions at their edges, all the same`,
      )
    })
  },
)
