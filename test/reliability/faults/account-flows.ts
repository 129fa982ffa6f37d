import assert from 'node:assert/strict'
import { goodPassword } from '../../contract/people.js'
import { withoutLimits } from '../../contract/without-limits.js'
import {
  type Flow,
  guardedUnavailable,
  outcomeOf,
  outcomeOfCall,
  threwUnavailable,
  tookEffect,
} from './flow.js'
import { newEmail, signsInWith } from './mail-and-login.js'

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

const lookUp: Flow = {
  name: 'users.get and users.findByEmail',
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
  lookUp,
  readAudit,
]
