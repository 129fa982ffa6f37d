import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { memory } from '../adapters/memory/index.js'
import { generateSigningKey } from '../src/crypto/key-ring.js'
import { ask, bearerOf, loginStatus, meStatus } from './support/hosts/fetch-host.js'
import { testAuth } from './support/hosts/test-auth.js'

const run = promisify(execFile)
const operator = { baseUrl: 'https://admin.example.com' }
const client = { baseUrl: 'https://app.example.com' }

describe('two instances in one process', () => {
  const credentials = { email: 'ada@example.org', password: 'correct horse battery staple' }

  it('share no keys, no data and no counters', async () => {
    const keys = { current: await generateSigningKey() }
    const first = await testAuth()
    const second = await testAuth({ keys })
    await first.auth.client.users.create({ ...credentials, emailVerified: true })
    expect(await loginStatus(second.auth, credentials)).toBe(401)
    expect(await loginStatus(first.auth, credentials)).toBe(200)
    await second.auth.client.users.create({ ...credentials, emailVerified: true })
    const bearer = await bearerOf(first.auth, credentials)
    expect(await meStatus(first.auth, bearer)).toBe(200)
    expect(await meStatus(second.auth, bearer)).toBe(401)
    for (let attempt = 0; attempt < 60; attempt += 1) await loginStatus(first.auth, credentials)
    expect(await loginStatus(first.auth, credentials)).toBe(429)
    expect(await loginStatus(second.auth, credentials)).toBe(200)
    expect(second.events.map(({ type }) => type)).not.toContain('account.registered')
  })

  it('share their database when they are given one, and nothing else', async () => {
    const backend = memory()
    const first = await testAuth({ backend })
    const closed = await testAuth({ backend })
    const other = await testAuth({ backend, collectionPrefix: 'other_' })
    await first.auth.client.users.create({ ...credentials, emailVerified: true })
    const bearer = await bearerOf(first.auth, credentials)
    await closed.auth.close()
    expect(await meStatus(closed.auth, bearer)).toBe(200)
    expect(await meStatus(first.auth, bearer)).toBe(200)
    expect(await other.auth.client.users.findByEmail(credentials.email)).toBeNull()
    expect(await loginStatus(other.auth, credentials)).toBe(401)
  })

  it('share no counters on one database, where each has a prefix of its own', async () => {
    const backend = memory()
    const first = await testAuth({ backend })
    const other = await testAuth({ backend, collectionPrefix: 'other_' })
    for (const { auth } of [first, other]) {
      await auth.client.users.create({ ...credentials, emailVerified: true })
    }
    for (let attempt = 0; attempt < 60; attempt += 1) {
      await loginStatus(first.auth, { ...credentials, password: 'another passphrase' })
    }
    expect(await loginStatus(first.auth, credentials)).toBe(429)
    expect(await loginStatus(other.auth, credentials)).toBe(200)
  })

  it('sweep each for themselves on one database, where each has a prefix of its own', async () => {
    const backend = memory()
    const first = await testAuth({ backend, sweeps: true })
    const other = await testAuth({ backend, sweeps: true, collectionPrefix: 'other_' })
    for (const { clock } of [first, other]) await clock.advance(10_000)
    const leases = ['auth:refresh-sweep', 'other_auth:refresh-sweep']
    const held = await Promise.all(leases.map((name) => backend.lease.read(name)))
    expect(new Set(held.map((lease) => lease?.owner)).size).toBe(2)
    for (const lease of held) expect(lease?.owner ?? '').toMatch(/./)
    await Promise.all([first.auth.close(), other.auth.close()])
  })

  it('do not change when the host changes what it passed', async () => {
    const allowedOrigins: string[] = []
    const surfaces = { operator, client: { ...client, allowedOrigins } }
    const { auth } = await testAuth({ surfaces })
    allowedOrigins.push('https://app.evil.example')
    surfaces.client.baseUrl = 'https://app.evil.example'
    const headers = { origin: 'https://app.evil.example', 'sec-fetch-site': 'cross-site' }
    expect((await ask(auth, '/session', { headers })).status).toBe(403)
  })
})

describe('a host process', () => {
  const hooks = fileURLToPath(new URL('support/module-hooks.mjs', import.meta.url))
  const script = fileURLToPath(new URL('support/hosts/exiting-host.ts', import.meta.url))

  // Pending at the end of each: a permission never granted, and the timer that waits for it.
  it.each(['close', 'leave', 'hang'])('ends by itself (%s)', async (how) => {
    const { stdout } = await run(process.execPath, ['--import', hooks, script, how], {
      // Below every timer that a request sets going, so that none of them can be what ended it.
      timeout: 20_000,
      env: { PATH: process.env['PATH'] },
    })
    expect(JSON.parse(stdout)).toEqual({ status: 200, mails: 1 })
  })

  it('goes on while the refusal of a login is delayed, also without a server', async () => {
    const awaiting = fileURLToPath(new URL('support/hosts/awaiting-script.ts', import.meta.url))
    const { stdout } = await run(process.execPath, ['--import', hooks, awaiting], {
      timeout: 20_000,
      env: { PATH: process.env['PATH'] },
    })
    expect(JSON.parse(stdout)).toEqual([401, 401])
  })
})
