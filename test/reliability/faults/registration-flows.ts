import assert from 'node:assert/strict'
import { mailedToken, storedUser } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { goodPassword, otherPassword } from '../../support/people/people.js'
import { expectAlive, newestHeld } from './endings.js'
import { type Flow, outcomeOf, readStale, tookEffect, unavailable } from './flow.js'
import { askAgainWithoutMail, asksForNobody, newEmail, signsInWith } from './mail-and-login.js'
import type { World } from './world.js'

/** Registered, and not verified yet. */
async function newcomer(world: World): Promise<string> {
  const email = newEmail()
  const reply = await world.send('POST', '/register', { body: { email, password: goodPassword } })
  assert.equal(reply.status, 201, reply.text)
  world.adopt((await storedUser(world.host, world.surface, email)).id)
  return email
}

/**
 * Whatever was interrupted, the newest link completes it: it confirms the address, or, where the
 * address was registered twice, sets the password.
 */
async function completeRegistration(world: World, email: string): Promise<void> {
  const { host } = world
  await host.auth.close()
  await world.send('POST', '/email/verify/resend', { body: { email } })
  await host.auth.close()
  const mail = host.mailer.sent.findLast(({ to }) => to === email)
  assert.ok(mail !== undefined && 'token' in mail.data, 'no link was mailed')
  const { token } = mail.data
  const completed =
    mail.template === 'verifyEmail'
      ? await world.send('POST', '/email/verify', { body: { token, newPassword: goodPassword } })
      : await world.send('POST', '/password/reset', { body: { token, newPassword: goodPassword } })
  assert.ok(completed.status < 300, completed.text)
  assert.equal(await signsInWith(world, email, goodPassword), '200')
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
      reached: () => completeRegistration(world, email),
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
    const verify = () =>
      world.send('POST', '/email/verify', { body: { token, newPassword: goodPassword } })
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
    const verify = () =>
      world.send('POST', '/email/verify', { body: { token, newPassword: goodPassword } })
    await verify()
    return { send: async () => outcomeOf(await verify()), reached: async () => {} }
  },
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
        const verified = await world.send('POST', '/email/verify', {
          body: { token, newPassword: goodPassword },
        })
        assert.equal(verified.status, 200, verified.text)
      },
    }
  },
}

export const registrationFlows: readonly Flow[] = [
  register,
  registerTaken,
  registerAndSignIn,
  verifyEmail,
  verifyAgain,
  resend,
  asksForNobody('/email/verify/resend'),
]
