import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { memory } from '../../adapters/memory.js'
import { type FaultyBackend, faultyBackend } from '../support/faulty-backend.js'
import { type ContractHost, memoryHost } from './hosts.js'
import { type Person, person, type SignedIn, signIn } from './people.js'

/**
 * What each request costs the backend, call by call. A call more is a decision to be made, not an
 * accident: on a network of half a millisecond it is what a user waits for.
 */
describe.each(['operator', 'client'] as const)('round trips on the %s surface', (surface) => {
  const at = (path: string): string => `/v1/auth/${surface}${path}`
  let store: FaultyBackend
  let host: ContractHost
  let who: Person & SignedIn
  beforeAll(async () => {
    store = faultyBackend(memory())
    host = await memoryHost.start({ backend: store.backend })
    const made = await person(host, surface)
    who = { ...made, ...(await signIn(host, surface, made)) }
  })
  afterAll(() => host.close())

  async function callsOf(work: () => Promise<{ status: number }>, status: number) {
    await host.auth.close()
    const before = store.calls.length
    expect((await work()).status).toBe(status)
    const made = store.calls.slice(before).map((name) => name.replace(`${surface}_`, ''))
    await host.auth.close()
    return made.filter((name) => !name.startsWith('audit_records.'))
  }

  it('a protected route: denylist, limit, user', async () => {
    const calls = await callsOf(() => host.send('GET', at('/me'), { bearer: who.bearer }), 200)
    expect(calls).toEqual(['denylist.find', 'counter.hit', 'users.get'])
  })

  it('a refresh: two limits, user and denylist, and one guarded write', async () => {
    const body = { refreshToken: who.refreshToken }
    const calls = await callsOf(() => host.send('POST', at('/refresh'), { body }), 200)
    expect(calls).toEqual([
      'counter.hit',
      'counter.hit',
      'users.get',
      'denylist.find',
      'refresh_tokens.update',
    ])
  })

  it('GET session: reads only, beside the limits', async () => {
    const { cookie } = await signIn(host, surface, who)
    const calls = await callsOf(() => host.send('GET', at('/session'), { cookie }), 200)
    expect(calls).toEqual([
      'counter.hit',
      'counter.hit',
      'users.get',
      'denylist.find',
      'refresh_tokens.get',
    ])
  })

  it('a login: limits, the user, its factors beside the hash, session and family, the fence', async () => {
    const body = { email: who.email, password: who.password }
    const calls = await callsOf(() => host.send('POST', at('/login'), { body }), 200)
    expect(calls).toEqual([
      'counter.hit',
      'counter.hit',
      'users.find',
      'totp_factors.get',
      'backup_codes.get',
      'counter.forgive',
      'sessions.insert',
      'refresh_tokens.insert',
      'users.update',
    ])
  })

  it('a logout: the three steps, and beside the first whether it was done before', async () => {
    const { bearer } = await signIn(host, surface, who)
    const calls = await callsOf(() => host.send('POST', at('/logout'), { bearer }), 204)
    expect(calls).toEqual([
      'counter.hit',
      'denylist.find',
      'denylist.put',
      'refresh_tokens.update',
      'sessions.update',
    ])
  })
})
