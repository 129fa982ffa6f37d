import { describe, expect, it } from 'vitest'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost } from '../../support/hosts/open-host.js'
import { rangeService } from '../../support/outside/range-service.js'
import { type DoorOutcome, doors, refusedFor } from './password-doors.js'

const breached = 'vm2#pLw8zRd4^hN6 out in the open'
const clean = 'vm2#pLw8zRd4^hN6 known to nobody'
const account = { email: 'ada@example.org', name: '' }
const set: DoorOutcome = ['set', '']
const unavailable: DoorOutcome = [
  '503 service_unavailable',
  'The service is not available right now.',
]

async function hostWith(mode?: 'off' | 'failOpen' | 'failClosed') {
  const service = rangeService([breached, 'some other password'])
  const settings = mode === undefined ? {} : { passwordBreachCheck: mode }
  return { host: await openHost({ fetcher: service, settings }), service }
}

describe.each(
  eachSurface.cells.flatMap((surface) => doors.map((door) => [surface, ...door] as const)),
)('the breach check [%s] at %s', (surface, _, door) => {
  it.each([undefined, 'off'] as const)('asks nobody when it is %s', async (mode) => {
    const { host, service } = await hostWith(mode)
    const attempt = await door(host, surface, account)
    expect(await attempt(breached)).toEqual(set)
    expect(service.requests).toEqual([])
  })

  it.each(['failOpen', 'failClosed'] as const)('%s refuses what is known', async (mode) => {
    const { host, service } = await hostWith(mode)
    const attempt = await door(host, surface, account)
    const before = service.requests.length
    expect(await attempt(breached)).toEqual(refusedFor('breached'))
    expect(service.requests).toHaveLength(before + 1)
    // Five digits of the digest leave the process, and not a letter of the password.
    expect(JSON.stringify(service.requests)).not.toContain('vm2')
  })

  it.each(['failOpen', 'failClosed'] as const)('%s lets pass what is not', async (mode) => {
    const { host, service } = await hostWith(mode)
    const attempt = await door(host, surface, account)
    const before = service.requests.length
    expect(await attempt(clean)).toEqual(set)
    expect(service.requests).toHaveLength(before + 1)
  })

  it('is not asked about a password that is refused anyway', async () => {
    const { host, service } = await hostWith('failClosed')
    const attempt = await door(host, surface, account)
    const before = service.requests.length
    expect(await attempt('vm2#pLw8')).toEqual(refusedFor('too_short'))
    expect(service.requests).toHaveLength(before)
  })

  it.each(['refuses', 'errors', 'garbage'] as const)(
    'decides as set when the service %s',
    async (how) => {
      for (const [mode, outcome] of [
        ['failOpen', set],
        ['failClosed', unavailable],
      ] as const) {
        const { host, service } = await hostWith(mode)
        const attempt = await door(host, surface, account)
        service.break(how)
        expect([mode, await attempt(clean)]).toEqual([mode, outcome])
      }
    },
  )
})

describe('the breach check while the service is down', () => {
  it('stores nothing when it fails closed', async () => {
    const { host, service } = await hostWith('failClosed')
    service.break('refuses')
    await expect(
      host.auth.client.users.create({ ...account, password: clean }),
    ).rejects.toMatchObject({ code: 'service_unavailable' })
    expect(await host.auth.client.users.findByEmail(account.email)).toBeNull()
  })

  it('asks again after five minutes, and not before', async () => {
    const { host, service } = await hostWith('failClosed')
    const { users } = host.auth.client
    const attempt = (email: string) => users.create({ email, password: clean })
    service.break('refuses')
    await expect(attempt('a@example.org')).rejects.toThrow()
    service.break(null)
    await host.clock.advance(5 * 60_000 - 1)
    await expect(attempt('b@example.org')).rejects.toThrow()
    expect(service.requests).toHaveLength(1)
    await host.clock.advance(1)
    expect(await attempt('c@example.org')).toMatchObject({ hasPassword: true })
    expect(service.requests).toHaveLength(2)
  })
})
