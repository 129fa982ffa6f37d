import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { spendIntent } from '../../../src/domain/intents/intents.js'
import {
  issueMailedTicket,
  openMailedTicket,
  takeMailedTicket,
} from '../../../src/domain/intents/login-intents.js'
import { linkKinds } from '../../../src/model/intents.js'
import type { User } from '../../../src/model/user.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'
import { testContext } from '../../support/test-context.js'

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
  membershipsRevision: 0,
  sessionEpoch: 3,
  keptSessionId: null,
  keptIntentId: null,
  deviceEpoch: 5,
  secretsEpoch: 0,
  secretsChangedIn: null,
  credentialEpoch: 7,
  createdAt: 0,
  updatedAt: 0,
  lastLoginAt: null,
  deletingAt: null,
  endedBefore: null,
  lastIntentId: null,
  settledEnrollmentId: null,
  importState: null,
  addressStart: '',
  soleTenant: '',
  createdWeek: 0,
}
const bob: User = { ...ada, id: '01940000-0000-7000-8000-00000000000b', email: 'bob@example.org' }
const minute = 60_000

/** A link that is mailed to its user. */
const mailed = (user: User, lifeMs: number) => ({ user, boundTo: user.email, payload: {}, lifeMs })

async function ticketsOf() {
  const faulty = faultyBackend(memory())
  const ctx = await testContext({ backend: faulty.backend })
  const { collections, clock } = ctx
  await collections.users.insert(ada)
  await collections.users.insert(bob)
  return { ctx, stored: collections.intents, clock, faulty }
}

const invalid = { code: 'invalid_token' }

describe('tickets', () => {
  it('are opaque, of 256 random bits, and stored as a digest alone', async () => {
    const { ctx, stored, clock } = await ticketsOf()
    const { token, expiresAt } = await issueMailedTicket(ctx, 'resetPassword', mailed(ada, minute))
    expect(token).toMatch(/^[\w-]+\.[\w-]{43}$/)
    expect(expiresAt).toBe(clock.now() + minute)
    const found = await stored.find({ userId: ada.id }, { limit: 9 })
    expect(found).toEqual([
      {
        id: `resetPassword:${ada.id}`,
        userId: ada.id,
        kind: 'resetPassword',
        secretHash: expect.stringMatching(/^[\w-]{43}$/),
        credentialEpoch: 7,
        sessionEpoch: 3,
        deviceEpoch: 5,
        boundTo: 'ada@example.org',
        attempts: 0,
        payload: {},
        expiresAt,
      },
    ])
    expect(JSON.stringify(found)).not.toContain(token.split('.')[1])
    const opened = await openMailedTicket(ctx, token, 'resetPassword')
    expect(spendIntent(opened).stored).toEqual(found[0])
  })

  it('say where they were mailed to, or that they were not', async () => {
    const { ctx } = await ticketsOf()
    const { token } = await issueMailedTicket(ctx, 'expiredPassword', {
      ...{ user: ada, boundTo: null, payload: {}, lifeMs: minute },
    })
    const opened = await openMailedTicket(ctx, token, 'expiredPassword')
    expect(spendIntent(opened).stored.boundTo).toBeNull()
  })

  it('are good for their own purpose, person and secret', async () => {
    const { ctx } = await ticketsOf()
    const reset = await issueMailedTicket(ctx, 'resetPassword', mailed(ada, minute))
    const verify = await issueMailedTicket(ctx, 'verifyEmail', mailed(ada, minute))
    const bobs = await issueMailedTicket(ctx, 'resetPassword', mailed(bob, minute))
    const mixed = (a: string, b: string) => `${a.split('.')[0]}.${b.split('.')[1]}`
    for (const token of [
      mixed(reset.token, verify.token),
      mixed(verify.token, reset.token),
      mixed(reset.token, bobs.token),
      mixed(bobs.token, reset.token),
    ]) {
      for (const kind of linkKinds) {
        await expect(openMailedTicket(ctx, token, kind)).rejects.toMatchObject(invalid)
      }
    }
    await expect(openMailedTicket(ctx, reset.token, 'verifyEmail')).rejects.toMatchObject(invalid)
    await expect(openMailedTicket(ctx, verify.token, 'resetPassword')).rejects.toMatchObject(
      invalid,
    )
    const { user } = await openMailedTicket(ctx, bobs.token, 'resetPassword')
    expect(user.id).toBe(bob.id)
  })

  it('replace each other, and expire to the millisecond', async () => {
    const { ctx, clock } = await ticketsOf()
    const older = await issueMailedTicket(ctx, 'resetPassword', mailed(ada, 10 * minute))
    const newer = await issueMailedTicket(ctx, 'resetPassword', mailed(ada, minute))
    const read = (token: string) => openMailedTicket(ctx, token, 'resetPassword')
    await expect(read(older.token)).rejects.toMatchObject(invalid)
    await clock.advance(minute - 1)
    expect((await read(newer.token)).user.id).toBe(ada.id)
    await clock.advance(1)
    await expect(read(newer.token)).rejects.toMatchObject({ code: 'token_expired' })
    // Only whoever holds the right secret learns that it expired.
    const guessed = `${newer.token.slice(0, -43)}${'A'.repeat(43)}`
    await expect(read(guessed)).rejects.toMatchObject(invalid)
    await expect(read(older.token)).rejects.toMatchObject(invalid)
  })

  it('are taken by one of many, and not by who read an older one', async () => {
    const { ctx } = await ticketsOf()
    const older = await issueMailedTicket(ctx, 'verifyEmail', mailed(ada, minute))
    const stale = spendIntent(await openMailedTicket(ctx, older.token, 'verifyEmail'))
    const { token } = await issueMailedTicket(ctx, 'verifyEmail', mailed(ada, minute))
    const ticket = spendIntent(await openMailedTicket(ctx, token, 'verifyEmail'))
    expect(await takeMailedTicket(ctx, stale)).toBe(false)
    const takes = await Promise.all(Array.from({ length: 16 }, () => takeMailedTicket(ctx, ticket)))
    expect(takes.filter(Boolean)).toHaveLength(1)
    await expect(openMailedTicket(ctx, token, 'verifyEmail')).rejects.toMatchObject(invalid)
  })

  it.each([2, 4])('leave one good token of %i issued at once', async (count) => {
    const { ctx } = await ticketsOf()
    const issued = await Promise.all(
      Array.from({ length: count }, () =>
        issueMailedTicket(ctx, 'resetPassword', mailed(ada, minute)),
      ),
    )
    const reads = await Promise.allSettled(
      issued.map(({ token }) => openMailedTicket(ctx, token, 'resetPassword')),
    )
    expect(reads.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  it('can be issued while the older one is being spent', async () => {
    const { ctx, faulty } = await ticketsOf()
    const older = await issueMailedTicket(ctx, 'resetPassword', mailed(ada, minute))
    const ticket = spendIntent(await openMailedTicket(ctx, older.token, 'resetPassword'))
    faulty.onCall('client_intents.update', async () => {
      expect(await takeMailedTicket(ctx, ticket)).toBe(true)
    })
    const { token } = await issueMailedTicket(ctx, 'resetPassword', mailed(ada, minute))
    expect((await openMailedTicket(ctx, token, 'resetPassword')).user.id).toBe(ada.id)
  })
})
