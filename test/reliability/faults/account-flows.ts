import assert from 'node:assert/strict'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { goodPassword } from '../../support/people/people.js'
import {
  type Flow,
  guardedUnavailable,
  outcomeOf,
  outcomeOfCall,
  threwUnavailable,
  tookEffect,
} from './flow.js'
import { newEmail, signsInWith } from './mail-and-login.js'
import type { World } from './world.js'

const getMe: Flow = {
  name: 'GET /me',
  options: withoutLimits,
  expects: '200',
  unavailable: guardedUnavailable,
  async prepare(world) {
    const { bearer } = await world.rotate(await world.signIn(await world.person()))
    return {
      send: async () => outcomeOf(await world.send('GET', '/me', { bearer })),
      untouched: [bearer],
      reached: async () => {},
    }
  },
}

const updateMe: Flow = {
  name: 'PATCH /me',
  options: withoutLimits,
  expects: '200',
  unavailable: guardedUnavailable,
  async prepare(world) {
    const { bearer, userId } = await world.rotate(await world.signIn(await world.person()))
    const body = { name: 'Grace' }
    return {
      send: async () => outcomeOf(await world.send('PATCH', '/me', { bearer, body })),
      untouched: [bearer],
      async reached() {
        assert.equal((await world.stored.users.get(userId))?.name, 'Grace')
      },
    }
  },
}

const createUser: Flow = {
  name: 'users.create',
  options: withoutLimits,
  expects: 'done',
  unavailable: threwUnavailable,
  // The account was made, and the caller could not be told; it can be looked up.
  ends: (struck) => (tookEffect(struck, 'users.insert') ? ['threw email_taken'] : []),
  async prepare(world) {
    const { users } = world.host.auth[world.surface]
    const email = newEmail()
    const user = { email, password: goodPassword, emailVerified: true }
    return {
      send: () => outcomeOfCall(() => users.create(user)),
      async reached() {
        assert.equal((await users.findByEmail(email))?.emailVerified, true)
        assert.equal(await signsInWith(world, email, goodPassword), '200')
      },
    }
  },
}

const updateUser: Flow = {
  name: 'users.update',
  options: withoutLimits,
  expects: 'done',
  unavailable: threwUnavailable,
  async prepare(world) {
    const { users } = world.host.auth[world.surface]
    const { id } = await world.person()
    const changes = { name: 'Grace', systemRole: 'editor', memberships: [{ tenantId: 'a' }] }
    return {
      send: () => outcomeOfCall(() => users.update(id, changes)),
      async reached() {
        const user = await users.get(id)
        assert.deepEqual({ ...user, ...changes }, { ...user })
      },
    }
  },
}

const deleteUser: Flow = {
  name: 'users.delete',
  options: withoutLimits,
  expects: 'done',
  unavailable: threwUnavailable,
  async prepare(world) {
    const { host, surface, stored } = world
    const who = await world.person()
    const { bearer, refreshToken, userId } = await world.oldSession(who)
    await keepSome(world, userId)
    // By a stranger, who is told nothing of the deletion.
    const registration = { email: who.email, password: goodPassword }
    const registered = await world.send('POST', '/register', { body: registration })
    assert.equal(registered.status, 201, registered.text)
    world.willDelete(userId)
    return {
      send: () => outcomeOfCall(() => host.auth[surface].users.delete(userId)),
      async reached() {
        assert.equal(await stored.users.get(userId), null)
        assert.deepEqual(
          await stored.pendingRegistrations.find({ email: who.email }, { limit: 9 }),
          [],
        )
        assert.equal(await signsInWith(world, who.email, who.password), '401 invalid_credentials')
        const me = await world.send('GET', '/me', { bearer })
        assert.deepEqual([me.status, me.code], [401, 'session_revoked'])
        const refreshed = await world.send('POST', '/refresh', { body: { refreshToken } })
        assert.equal(refreshed.status, 401)
        assert.deepEqual(await keptOf(world, userId), [])
      },
    }
  },
}

const finishDeletion: Flow = {
  name: 'users.delete of an account whose record is gone already',
  options: withoutLimits,
  expects: 'done',
  unavailable: threwUnavailable,
  async prepare(world) {
    const { host, surface, stored } = world
    const { id } = await world.person()
    const begunAt = host.clock.now()
    const note = {
      ...{ id, actorId: null, begunAt, credentialEpoch: null, deletedAt: null },
      expiresAt: begunAt + 60_000,
    }
    await stored.accountDeletions.insert(note)
    await stored.users.take(id)
    return {
      send: () => outcomeOfCall(() => host.auth[surface].users.delete(id)),
      async reached() {
        assert.notEqual((await stored.accountDeletions.get(id))?.deletedAt, null)
      },
    }
  },
}

/** What is found by its owner and what has the owner's id, beside what signing in leaves. */
async function keepSome({ stored, host }: World, userId: string): Promise<void> {
  const now = host.clock.now()
  const shared = { userId, createdAt: now, removingBy: null }
  const totp = {
    id: userId,
    sealedSecret: '',
    keyId: '',
    confirmed: true,
    lastStep: 0,
    expiresAt: null,
  }
  const enrolled = { boundTo: '', credentialEpoch: 0, deviceEpoch: 0, enrollmentId: null }
  await stored.totpFactors.insert({ ...shared, ...totp, ...enrolled })
  const identity = { provider: 'google', issuer: 'i', subject: userId, linkedAt: now }
  const { createdAt: _, ...owned } = shared
  await stored.oauthIdentities.insert({ id: userId, ...owned, ...identity, expiresAt: null })
}

async function keptOf({ stored }: World, userId: string): Promise<readonly string[]> {
  const { sessions, families, oauthIdentities } = stored
  const found = await Promise.all([
    ...[sessions, families, oauthIdentities].map((one) => one.find({ userId }, { limit: 9 })),
    stored.totpFactors.get(userId),
  ])
  return found.flat().flatMap((doc) => (doc === null ? [] : [doc.id]))
}

const lookUp: Flow = {
  name: 'users.get, users.findByEmail and users.list',
  options: withoutLimits,
  expects: 'done',
  unavailable: threwUnavailable,
  async prepare(world) {
    const { users } = world.host.auth[world.surface]
    const { id, email } = await world.person()
    return {
      send: () =>
        outcomeOfCall(async () => {
          assert.equal((await users.get(id))?.email, email)
          assert.equal((await users.findByEmail(email))?.id, id)
          assert.notEqual((await users.list()).users.length, 0)
        }),
      reached: async () => {},
    }
  },
}

const readAudit: Flow = {
  name: 'audit.ofTarget and audit.ofActor',
  options: withoutLimits,
  expects: 'done',
  unavailable: threwUnavailable,
  async prepare(world) {
    const { audit, terminateSession } = world.host.auth[world.surface]
    const { userId, sessionId } = await world.signIn(await world.person())
    await terminateSession(sessionId, { actorId: userId })
    await world.host.auth.close()
    return {
      send: () =>
        outcomeOfCall(async () => {
          assert.notDeepEqual((await audit.ofTarget(userId)).records, [])
          assert.notDeepEqual((await audit.ofActor(userId)).records, [])
        }),
      reached: async () => {},
    }
  },
}

export const accountFlows: readonly Flow[] = [
  getMe,
  updateMe,
  createUser,
  updateUser,
  deleteUser,
  finishDeletion,
  lookUp,
  readAudit,
]
