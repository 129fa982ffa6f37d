import assert from 'node:assert/strict'
import { mailedToken, storedUser } from '../../contract/open-host.js'
import { goodPassword, otherPassword } from '../../contract/people.js'
import { withoutLimits } from '../../contract/without-limits.js'
import { refreshCookieOf } from '../../support/http-client.js'
import { expectAlive, expectEnded, newestHeld } from './endings.js'
import {
  type Flow,
  guardedUnavailable,
  outcomeOf,
  outcomeOfCall,
  readStale,
  type Struck,
  threwUnavailable,
  tookEffect,
  unavailable,
} from './flow.js'
import type { Holder, World } from './world.js'

let addresses = 0

function newEmail(): string {
  addresses += 1
  return `newcomer-${addresses}@example.org`
}

async function signsInWith(world: World, email: string, password: string): Promise<string> {
  const reply = await world.send('POST', '/login', { body: { email, password } })
  return outcomeOf(reply).is
}

/** Registered, and not verified yet. */
async function newcomer(world: World): Promise<string> {
  const email = newEmail()
  const reply = await world.send('POST', '/register', { body: { email, password: goodPassword } })
  assert.equal(reply.status, 201, reply.text)
  world.adopt((await storedUser(world.host, world.surface, email)).id)
  return email
}

const register: Flow = {
  name: '/register',
  options: withoutLimits,
  expects: '201',
  unavailable,
  async prepare(world) {
    const email = newEmail()
    const body = { email, password: goodPassword }
    return {
      send: async () => outcomeOf(await world.send('POST', '/register', { body })),
      async reached() {
        // Whatever was interrupted, a new link completes it; the last one that was asked for.
        await world.host.auth.close()
        await world.send('POST', '/email/verify/resend', { body: { email } })
        const token = await mailedToken(world.host, 'verifyEmail', email)
        const verified = await world.send('POST', '/email/verify', { body: { token } })
        assert.equal(verified.status, 200, verified.text)
        assert.equal(await signsInWith(world, email, goodPassword), '200')
      },
    }
  },
}

const registerTaken: Flow = {
  name: '/register with an address that has an account',
  options: withoutLimits,
  expects: '201',
  unavailable,
  async prepare(world) {
    const { email } = await world.person()
    const body = { email, password: otherPassword }
    return {
      send: async () => outcomeOf(await world.send('POST', '/register', { body })),
      async reached() {
        assert.equal(await signsInWith(world, email, goodPassword), '200')
        assert.equal(await signsInWith(world, email, otherPassword), '401 invalid_credentials')
      },
    }
  },
}

const registerAndSignIn: Flow = {
  name: '/register that signs in',
  options: {
    ...withoutLimits,
    settings: { ...withoutLimits.settings, emailVerificationRequired: false },
  },
  expects: '201',
  unavailable,
  // The account was made, and the caller could not be told: who knows the password signs in.
  ends: ({ call, fault }) =>
    call.name.startsWith('counter.') || (call.name.endsWith('users.insert') && fault === 'before')
      ? []
      : ['409 email_taken'],
  async prepare(world) {
    const email = newEmail()
    const body = { email, password: goodPassword }
    return {
      send: async () => outcomeOf(await world.send('POST', '/register', { body })),
      async reached() {
        if (world.held.length > 0) await expectAlive(world, newestHeld(world))
        assert.equal(await signsInWith(world, email, goodPassword), '200')
      },
    }
  },
}

const verifyEmail: Flow = {
  name: '/email/verify',
  options: withoutLimits,
  expects: '200',
  unavailable,
  // Spent, and the address verified: the caller could not be told.
  ends: (struck) => (tookEffect(struck, 'tickets.take') ? ['400 invalid_token'] : []),
  mayAnswer: (struck) => (readStale(struck, 'tickets.get') ? ['400 invalid_token'] : []),
  async prepare(world) {
    const email = await newcomer(world)
    // The link replaces an older one, so that it has a past.
    await world.send('POST', '/email/verify/resend', { body: { email } })
    const token = await mailedToken(world.host, 'verifyEmail', email)
    const verify = () => world.send('POST', '/email/verify', { body: { token } })
    return {
      send: async () => outcomeOf(await verify()),
      async reached() {
        assert.equal((await verify()).code, 'invalid_token', 'a link was spent twice')
        assert.equal(await signsInWith(world, email, goodPassword), '200')
      },
    }
  },
}

const verifyAgain: Flow = {
  name: '/email/verify with a link that was used',
  options: withoutLimits,
  expects: '400 invalid_token',
  unavailable,
  async prepare(world) {
    const email = await newcomer(world)
    const token = await mailedToken(world.host, 'verifyEmail', email)
    const verify = () => world.send('POST', '/email/verify', { body: { token } })
    await verify()
    return { send: async () => outcomeOf(await verify()), reached: async () => {} }
  },
}

/** The link is made beside the request, so its reply cannot tell: who gets no mail asks again. */
async function askAgainWithoutMail(
  world: World,
  email: string,
  mailedBefore: number,
  ask: () => Promise<unknown>,
): Promise<void> {
  await world.host.auth.close()
  const isMailed = () => world.host.mailer.count(email) > mailedBefore
  if (!isMailed()) await ask()
  await world.host.auth.close()
  assert.ok(isMailed(), 'no mail was sent')
}

const resend: Flow = {
  name: '/email/verify/resend',
  options: withoutLimits,
  expects: '202',
  unavailable,
  async prepare(world) {
    const email = await newcomer(world)
    await world.host.auth.close()
    const mailed = world.host.mailer.count(email)
    const body = { email }
    const ask = () => world.send('POST', '/email/verify/resend', { body })
    return {
      send: async () => outcomeOf(await ask()),
      async reached() {
        await askAgainWithoutMail(world, email, mailed, ask)
        const token = await mailedToken(world.host, 'verifyEmail', email)
        const verified = await world.send('POST', '/email/verify', { body: { token } })
        assert.equal(verified.status, 200, verified.text)
      },
    }
  },
}

function asksForNobody(path: string): Flow {
  return {
    name: `${path} for an address nobody has`,
    options: withoutLimits,
    expects: '202',
    unavailable,
    async prepare(world) {
      const body = { email: newEmail() }
      return {
        send: async () => outcomeOf(await world.send('POST', path, { body })),
        async reached() {
          assert.equal(world.host.mailer.count(body.email), 0)
        },
      }
    },
  }
}

const forgot: Flow = {
  name: '/password/forgot',
  options: withoutLimits,
  expects: '202',
  unavailable,
  async prepare(world) {
    const { email } = await world.person()
    const body = { email }
    const ask = () => world.send('POST', '/password/forgot', { body })
    return {
      send: async () => outcomeOf(await ask()),
      async reached() {
        await askAgainWithoutMail(world, email, 0, ask)
        const token = await mailedToken(world.host, 'resetPassword', email)
        const change = { token, newPassword: otherPassword }
        const reset = await world.send('POST', '/password/reset', { body: change })
        assert.equal(reset.status, 204, reset.text)
        assert.equal(await signsInWith(world, email, otherPassword), '200')
      },
    }
  },
}

/** Two sessions of one person, each refreshed once. */
async function settled(world: World): Promise<{ email: string; all: readonly [Holder, Holder] }> {
  const who = await world.person()
  return { email: who.email, all: [await world.oldSession(who), await world.oldSession(who)] }
}

const reset: Flow = {
  name: '/password/reset',
  options: withoutLimits,
  expects: '204',
  unavailable,
  // All done, and the caller could not be told.
  ends: (struck) => (tookEffect(struck, 'tickets.take') ? ['400 invalid_token'] : []),
  // The older version is an older link's.
  mayAnswer: (struck) => (readStale(struck, 'tickets.get') ? ['400 invalid_token'] : []),
  async prepare(world) {
    const { email, all } = await settled(world)
    for (let n = 0; n < 2; n += 1) await world.send('POST', '/password/forgot', { body: { email } })
    const token = await mailedToken(world.host, 'resetPassword', email)
    const resetTo = (newPassword: string) =>
      world.send('POST', '/password/reset', { body: { token, newPassword } })
    return {
      send: async () => outcomeOf(await resetTo(otherPassword)),
      async reached() {
        for (const one of all) await expectEnded(world, one, ['password_change'])
        const again = await resetTo('quite another passphrase')
        assert.equal(again.code, 'invalid_token', 'a link was spent twice')
        assert.equal(await signsInWith(world, email, goodPassword), '401 invalid_credentials')
        assert.equal(await signsInWith(world, email, otherPassword), '200')
      },
    }
  },
}

const resetAgain: Flow = {
  name: '/password/reset with a link that was used',
  options: withoutLimits,
  expects: '400 invalid_token',
  unavailable,
  async prepare(world) {
    const { email } = await settled(world)
    await world.send('POST', '/password/forgot', { body: { email } })
    const token = await mailedToken(world.host, 'resetPassword', email)
    const resetTo = (newPassword: string) =>
      world.send('POST', '/password/reset', { body: { token, newPassword } })
    assert.equal((await resetTo(otherPassword)).status, 204)
    return {
      send: async () => outcomeOf(await resetTo('quite another passphrase')),
      async reached() {
        assert.equal(await signsInWith(world, email, otherPassword), '200')
      },
    }
  },
}

/** A record written by somebody who can neither learn nor ask whether it was. */
function cannotBeTold({ call, fault, next }: Struck): boolean {
  const alone = fault === 'down' || fault === 'late' || next !== undefined
  return call.name.endsWith('users.update') && alone
}

/** From a browser, whose cookie is replaced on the way; twice, so that the history has a past. */
const changeInBrowser: Flow = {
  name: '/me/password in a browser',
  options: withoutLimits,
  expects: '204',
  unavailable: guardedUnavailable,
  // The older version of the account has the older password.
  mayAnswer: (struck) => (readStale(struck, 'users.get') ? ['401 invalid_credentials'] : []),
  async prepare(world) {
    const { email, all } = await settled(world)
    const [other, own] = all
    const change = (cookie: string, currentPassword: string, newPassword: string) =>
      world.send('POST', '/me/password', {
        bearer: own.bearer,
        cookie,
        body: { currentPassword, newPassword },
      })
    const earlier = await change(own.cookie, goodPassword, 'quite another passphrase')
    let cookie = refreshCookieOf(earlier, world.surface)
    return {
      async send() {
        const reply = await change(cookie, 'quite another passphrase', otherPassword)
        if (reply.setCookies.length > 0) cookie = refreshCookieOf(reply, world.surface)
        return outcomeOf(reply)
      },
      untouched: [own.bearer],
      async reached() {
        await expectEnded(world, other, ['password_change'])
        assert.equal(await signsInWith(world, email, otherPassword), '200')
        const refreshed = await world.send('POST', '/refresh-cookie', { cookie })
        assert.equal(refreshed.status, 200, `the browser was signed out: ${refreshed.text}`)
      },
    }
  },
}

function changePassword(endsOthers: boolean): Flow {
  return {
    name: `/me/password ${endsOthers ? 'that ends the other sessions' : 'that ends none'}`,
    options: {
      ...withoutLimits,
      settings: { ...withoutLimits.settings, revokeSessionsOnPasswordChange: endsOthers },
    },
    expects: '204',
    unavailable: guardedUnavailable,
    // The new password is in force, and the caller could not be told.
    ends: (struck) => (!endsOthers && cannotBeTold(struck) ? ['401 invalid_credentials'] : []),
    async prepare(world) {
      const { email, all } = await settled(world)
      const [other, { bearer }] = all
      const body = { currentPassword: goodPassword, newPassword: otherPassword }
      return {
        send: async () => outcomeOf(await world.send('POST', '/me/password', { bearer, body })),
        untouched: [bearer],
        async reached() {
          if (endsOthers) await expectEnded(world, other, ['password_change'])
          else await expectAlive(world, other)
          await expectAlive(world, all[1])
          assert.equal(await signsInWith(world, email, goodPassword), '401 invalid_credentials')
          assert.equal(await signsInWith(world, email, otherPassword), '200')
        },
      }
    },
  }
}

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
  register,
  registerTaken,
  registerAndSignIn,
  verifyEmail,
  verifyAgain,
  resend,
  asksForNobody('/email/verify/resend'),
  forgot,
  asksForNobody('/password/forgot'),
  reset,
  resetAgain,
  changePassword(true),
  changePassword(false),
  changeInBrowser,
  getMe,
  updateMe,
  createUser,
  updateUser,
  lookUp,
  readAudit,
]
