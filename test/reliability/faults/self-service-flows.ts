import assert from 'node:assert/strict'
import { mailedToken } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { goodPassword } from '../../support/people/people.js'
import { expectAlive, expectEnded } from './endings.js'
import {
  type Flow,
  guardedUnavailable,
  outcomeOf,
  readStale,
  type Struck,
  tookEffect,
  unavailable,
} from './flow.js'
import { askAgainWithoutMail, newEmail, signsInWith } from './mail-and-login.js'

const listSessions: Flow = {
  name: 'GET /sessions',
  options: withoutLimits,
  surface: 'operator',
  expects: '200',
  unavailable: guardedUnavailable,
  async prepare(world) {
    const { bearer } = await world.rotate(await world.signIn(await world.person()))
    return {
      send: async () => outcomeOf(await world.send('GET', '/sessions', { bearer })),
      untouched: [bearer],
      reached: async () => {},
    }
  },
}

const terminateSession: Flow = {
  name: 'DELETE /sessions/{sessionId}',
  options: withoutLimits,
  surface: 'operator',
  expects: '204',
  unavailable: guardedUnavailable,
  async prepare(world) {
    const who = await world.person()
    const [other, own] = [await world.oldSession(who), await world.oldSession(who)]
    const path = `/sessions/${other.sessionId}`
    return {
      send: async () => outcomeOf(await world.send('DELETE', path, { bearer: own.bearer })),
      untouched: [own.bearer],
      async reached() {
        await expectEnded(world, other, ['logout'])
        await expectAlive(world, own)
      },
    }
  },
}

const requestEmailChange: Flow = {
  name: 'POST /me/email',
  options: withoutLimits,
  expects: '202',
  unavailable: guardedUnavailable,
  async prepare(world) {
    const who = await world.person()
    const { bearer } = await world.signIn(who)
    const newAddress = newEmail()
    const body = { newEmail: newAddress, currentPassword: who.password }
    const ask = () => world.send('POST', '/me/email', { bearer, body })
    return {
      send: async () => outcomeOf(await ask()),
      untouched: [bearer],
      async reached() {
        await askAgainWithoutMail(world, newAddress, 0, ask)
        const token = await mailedToken(world.host, 'changeEmail', newAddress)
        const verified = await world.send('POST', '/email/verify', { bearer, body: { token } })
        assert.equal(verified.status, 200, verified.text)
        assert.equal(await signsInWith(world, newAddress, who.password), '200')
      },
    }
  },
}

/** What shows that the one who asked for the change is the one who confirms it. */
const askers = {
  '/email/verify of another address': 'session',
  '/email/verify of another address, with the password': 'password',
} as const

const confirmsEmailChange = Object.entries(askers).map(
  ([name, asker]): Flow => ({
    name,
    options: withoutLimits,
    expects: '200',
    unavailable,
    // Spent, and the address moved: the caller could not be told.
    ends: (struck) => (tookEffect(struck, 'intents.take') ? ['400 invalid_token'] : []),
    mayAnswer: (struck) => (readStale(struck, 'intents.get') ? ['400 invalid_token'] : []),
    async prepare(world) {
      const who = await world.person()
      const { bearer } = await world.signIn(who)
      const newAddress = newEmail()
      const ask = (address: string) =>
        world.send('POST', '/me/email', {
          bearer,
          body: { newEmail: address, currentPassword: who.password },
        })
      // The link replaces an older one, so that it has a past.
      await ask(newEmail())
      await world.host.auth.close()
      await ask(newAddress)
      const token = await mailedToken(world.host, 'changeEmail', newAddress)
      const given =
        asker === 'session'
          ? { bearer, body: { token } }
          : { body: { token, currentPassword: who.password } }
      const verify = () => world.send('POST', '/email/verify', given)
      return {
        send: async () => outcomeOf(await verify()),
        untouched: [bearer],
        async reached() {
          assert.equal((await verify()).code, 'invalid_token', 'a link was spent twice')
          assert.equal(await signsInWith(world, newAddress, goodPassword), '200')
          assert.equal(await signsInWith(world, who.email, goodPassword), '401 invalid_credentials')
        },
      }
    },
  }),
)

const deleteMe: Flow = {
  name: 'DELETE /me',
  options: {
    ...withoutLimits,
    settings: { ...withoutLimits.settings, accountDeletionMode: 'both' },
  },
  expects: '204',
  unavailable: guardedUnavailable,
  // Begun, it cannot be repeated by its owner, who is nobody any more; the sweep goes on with it.
  ends: (struck) =>
    hasBegun(struck)
      ? ['403 permission_denied', '401 session_revoked', '401 invalid_credentials']
      : [],
  async prepare(world) {
    const { host, surface, stored } = world
    const who = await world.person()
    const { bearer, userId } = await world.oldSession(who)
    world.willDelete(userId)
    const body = { currentPassword: who.password }
    return {
      send: async () => outcomeOf(await world.send('DELETE', '/me', { bearer, body })),
      async reached() {
        assert.equal(await signsInWith(world, who.email, who.password), '401 invalid_credentials')
        const user = await stored.users.get(userId)
        if (user === null) return
        assert.notEqual(await stored.accountDeletions.get(userId), null, 'nobody will go on')
        await host.auth[surface].users.delete(userId)
        assert.equal(await stored.users.get(userId), null)
      },
    }
  },
}

/** Whether a fault let the account be disabled and kept the request from its end. */
function hasBegun(struck: Struck): boolean {
  const { name } = struck.call
  const before = /denylist.find|_users.get|account_deletions.insert|counter/.test(name)
  return !before || struck.next !== undefined || struck.fault === 'down'
}

/** Links an administrator has mailed. */
const mailings = (['password-reset', 'email-verification'] as const).map((action): Flow => {
  const template = action === 'password-reset' ? 'resetPassword' : 'verifyEmail'
  return {
    name: `POST /users/{userId}/${action}`,
    options: { ...withoutLimits, authorizer: { check: async () => true } },
    surface: 'operator',
    expects: '202',
    unavailable: guardedUnavailable,
    async prepare(world) {
      const { bearer } = await world.signIn(await world.person())
      const email = newEmail()
      const { id } = await world.host.auth.operator.users.create({ email })
      world.adopt(id)
      const ask = () => world.send('POST', `/users/${id}/${action}`, { bearer })
      return {
        send: async () => outcomeOf(await ask()),
        untouched: [bearer],
        async reached() {
          await askAgainWithoutMail(world, email, 0, ask)
          assert.notEqual(await mailedToken(world.host, template, email), '')
        },
      }
    },
  }
})

/** What people do with their own account beside names and passwords, and mails they are sent. */
export const selfServiceFlows: readonly Flow[] = [
  listSessions,
  terminateSession,
  requestEmailChange,
  ...confirmsEmailChange,
  deleteMe,
  ...mailings,
]
