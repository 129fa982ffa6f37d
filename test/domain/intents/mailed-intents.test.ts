import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { createTickets } from '../../../src/domain/intents/mailed-intents.js'
import { collectionsOf } from '../../../src/model/collections.js'
import type { User } from '../../../src/model/user.js'
import { systemRandom } from '../../../src/system/system-random.js'
import { fakeClock } from '../../../src/testing/fake-clock.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'

const ada: User = {
  id: '01940000-0000-7000-8000-00000000000a',
  expiresAt: null,
  kind: '',
  email: 'ada@example.org',
  emailAsTyped: 'Ada@example.org',
  emailVerifiedAt: null,
  name: 'Ada',
  systemRole: 'guest',
  enabled: true,
  selfRegistered: true,
  passwordHash: null,
  passwordChangedAt: null,
  termsVersion: null,
  memberships: [],
  sessionEpoch: 3,
  keptSessionId: null,
  deviceEpoch: 0,
  credentialEpoch: 7,
  createdAt: 0,
  updatedAt: 0,
  lastLoginAt: null,
  deletingAt: null,
  endedBefore: null,
}
const bob: User = { ...ada, id: '01940000-0000-7000-8000-00000000000b', email: 'bob@example.org' }
const minute = 60_000

function ticketsOf() {
  const faulty = faultyBackend(memory())
  const collections = collectionsOf(faulty.backend.store, 'client', '')
  const clock = fakeClock()
  const tickets = createTickets({ collections, clock, random: systemRandom })
  return { tickets, stored: collections.tickets, clock, faulty }
}

const invalid = { code: 'invalid_token' }

describe('tickets', () => {
  it('6.4.1 are opaque, of 256 random bits, and stored as a digest alone', async () => {
    const { tickets, stored, clock } = ticketsOf()
    const { token, expiresAt } = await tickets.issue(ada, 'resetPassword', minute, ada.email)
    expect(token).toMatch(/^[\w-]+\.[\w-]{43}$/)
    expect(expiresAt).toBe(clock.now() + minute)
    const found = await stored.find({ userId: ada.id }, { limit: 9 })
    expect(found).toEqual([
      {
        id: `resetPassword:${ada.id}`,
        userId: ada.id,
        purpose: 'resetPassword',
        secretHash: expect.stringMatching(/^[\w-]{43}$/),
        credentialEpoch: 7,
        sessionEpoch: 3,
        email: 'ada@example.org',
        expiresAt,
      },
    ])
    expect(JSON.stringify(found)).not.toContain(token.split('.')[1])
    expect(await tickets.read(token, ['resetPassword'])).toEqual(found[0])
  })

  it('say where they were mailed to, or that they were not', async () => {
    const { tickets } = ticketsOf()
    const { token } = await tickets.issue(ada, 'expiredPassword', minute, null)
    expect((await tickets.read(token, ['expiredPassword'])).email).toBe('')
  })

  it('are good for their own purpose, person and secret', async () => {
    const { tickets } = ticketsOf()
    const reset = await tickets.issue(ada, 'resetPassword', minute, ada.email)
    const verify = await tickets.issue(ada, 'verifyEmail', minute, ada.email)
    const bobs = await tickets.issue(bob, 'resetPassword', minute, bob.email)
    const mixed = (a: string, b: string) => `${a.split('.')[0]}.${b.split('.')[1]}`
    for (const token of [
      mixed(reset.token, verify.token),
      mixed(verify.token, reset.token),
      mixed(reset.token, bobs.token),
      mixed(bobs.token, reset.token),
    ]) {
      const read = tickets.read(token, ['resetPassword', 'verifyEmail', 'expiredPassword'])
      await expect(read).rejects.toMatchObject(invalid)
    }
    await expect(tickets.read(reset.token, ['verifyEmail'])).rejects.toMatchObject(invalid)
    await expect(tickets.read(verify.token, ['resetPassword'])).rejects.toMatchObject(invalid)
    const { userId } = await tickets.read(bobs.token, ['verifyEmail', 'resetPassword'])
    expect(userId).toBe(bob.id)
  })

  it('replace each other, and expire to the millisecond', async () => {
    const { tickets, clock } = ticketsOf()
    const older = await tickets.issue(ada, 'resetPassword', 10 * minute, ada.email)
    const newer = await tickets.issue(ada, 'resetPassword', minute, ada.email)
    const read = (token: string) => tickets.read(token, ['resetPassword'])
    await expect(read(older.token)).rejects.toMatchObject(invalid)
    await clock.advance(minute - 1)
    expect((await read(newer.token)).userId).toBe(ada.id)
    await clock.advance(1)
    await expect(read(newer.token)).rejects.toMatchObject({ code: 'token_expired' })
    // Only whoever holds the right secret learns that it expired.
    const guessed = `${newer.token.slice(0, -43)}${'A'.repeat(43)}`
    await expect(read(guessed)).rejects.toMatchObject(invalid)
    await expect(read(older.token)).rejects.toMatchObject(invalid)
  })

  it('are taken by one of many, and not by who read an older one', async () => {
    const { tickets } = ticketsOf()
    const older = await tickets.issue(ada, 'verifyEmail', minute, ada.email)
    const stale = await tickets.read(older.token, ['verifyEmail'])
    const { token } = await tickets.issue(ada, 'verifyEmail', minute, ada.email)
    const ticket = await tickets.read(token, ['verifyEmail'])
    expect(await tickets.take(stale)).toBe(false)
    const takes = await Promise.all(Array.from({ length: 16 }, () => tickets.take(ticket)))
    expect(takes.filter(Boolean)).toHaveLength(1)
    await expect(tickets.read(token, ['verifyEmail'])).rejects.toMatchObject(invalid)
  })

  it.each([2, 4])('leave one good token of %i issued at once', async (count) => {
    const { tickets } = ticketsOf()
    const issued = await Promise.all(
      Array.from({ length: count }, () => tickets.issue(ada, 'resetPassword', minute, ada.email)),
    )
    const reads = await Promise.allSettled(
      issued.map(({ token }) => tickets.read(token, ['resetPassword'])),
    )
    expect(reads.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  it('can be issued while the older one is being spent', async () => {
    const { tickets, faulty } = ticketsOf()
    const older = await tickets.issue(ada, 'resetPassword', minute, ada.email)
    const ticket = await tickets.read(older.token, ['resetPassword'])
    faulty.onCall('client_tickets.update', async () => {
      expect(await tickets.take(ticket)).toBe(true)
    })
    const { token } = await tickets.issue(ada, 'resetPassword', minute, ada.email)
    expect((await tickets.read(token, ['resetPassword'])).userId).toBe(ada.id)
  })
})
