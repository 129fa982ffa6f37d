import assert from 'node:assert/strict'
import { mailedToken } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { goodPassword, otherPassword } from '../../support/people/people.js'
import { registrationCookieOf } from '../../support/people/registration-steps.js'
import { expectAlive, newestHeld } from './endings.js'
import {
  type Flow,
  guardedUnavailable,
  outcomeOf,
  readStale,
  tookEffect,
  unavailable,
} from './flow.js'
import { askAgainWithoutMail, asksForNobody, newEmail, signsInWith } from './mail-and-login.js'
import type { World } from './world.js'

interface Newcomer {
  readonly email: string
  /** What the browser keeps that registered. */
  readonly cookie: string
}

/** Registered, and not confirmed yet. */
async function newcomer(world: World): Promise<Newcomer> {
  const email = newEmail()
  const reply = await world.send('POST', '/register', { body: { email, password: goodPassword } })
  assert.equal(reply.status, 201, reply.text)
  return { email, cookie: registrationCookieOf(reply) ?? '' }
}

/** Whatever was interrupted, a link that is asked for completes it. */
async function completeRegistration(world: World, email: string): Promise<void> {
  const { host } = world
  await host.auth.close()
  await world.send('POST', '/email/verify/resend', { body: { email } })
  const token = await mailedToken(host, 'verifyEmail', email)
  const body = { token, newPassword: goodPassword }
  const completed = await world.send('POST', '/email/verify', { body })
  assert.equal(completed.status, 200, completed.text)
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

/** The last thing that is done: whoever was not told is told that the link is spent. */
const spentLast: Pick<Flow, 'ends' | 'mayAnswer'> = {
  ends: (struck) => (tookEffect(struck, 'intents.take') ? ['400 invalid_token'] : []),
  mayAnswer: (struck) => (readStale(struck, 'intents.get') ? ['400 invalid_token'] : []),
}

async function expectOneAccount(world: World, email: string, password: string): Promise<void> {
  const found = await world.stored.users.find({ email }, { limit: 2 })
  assert.equal(found.length, 1)
  assert.notEqual(found[0]?.emailVerifiedAt, null)
  assert.equal(await signsInWith(world, email, password), '200')
}

/** A link in the browser that registered, which has an older registration too, replaced since. */
const verifyEmail: Flow = {
  name: '/email/verify of a registration',
  options: withoutLimits,
  expects: '200',
  unavailable,
  ...spentLast,
  mayAnswer: (struck) => [
    ...(spentLast.mayAnswer?.(struck) ?? []),
    ...(readStale(struck, 'registrations.find') ? ['400 password_choice_required'] : []),
  ],
  async prepare(world) {
    const { email, cookie } = await newcomer(world)
    const token = await mailedToken(world.host, 'verifyEmail', email)
    const verify = (kept: object) =>
      world.send('POST', '/email/verify', { body: { token }, ...kept })
    return {
      send: async () => outcomeOf(await verify({ cookie })),
      async reached() {
        assert.equal((await verify({})).code, 'invalid_token', 'a link was spent twice')
        await expectOneAccount(world, email, goodPassword)
      },
    }
  },
}

const verifyElsewhere: Flow = {
  name: '/email/verify of a registration, in another browser',
  options: withoutLimits,
  expects: '200',
  unavailable,
  ...spentLast,
  async prepare(world) {
    const { email } = await newcomer(world)
    const token = await mailedToken(world.host, 'verifyEmail', email)
    const body = { token, newPassword: otherPassword }
    const verify = () => world.send('POST', '/email/verify', { body })
    return {
      send: async () => outcomeOf(await verify()),
      async reached() {
        assert.equal((await verify()).code, 'invalid_token', 'a link was spent twice')
        await expectOneAccount(world, email, otherPassword)
      },
    }
  },
}

/** By the page that used it, which is answered as it was answered first. */
const verifyAgain: Flow = {
  name: '/email/verify with a link that was used',
  options: withoutLimits,
  expects: '200',
  unavailable,
  // What remembers the answer is not there yet.
  mayAnswer: (struck) => (readStale(struck, 'challenges.get') ? ['400 invalid_token'] : []),
  async prepare(world) {
    const { email, cookie } = await newcomer(world)
    const token = await mailedToken(world.host, 'verifyEmail', email)
    const verify = () => world.send('POST', '/email/verify', { body: { token }, cookie })
    await verify()
    return { send: async () => outcomeOf(await verify()), reached: async () => {} }
  },
}

const verifyTaken: Flow = {
  name: '/email/verify of an address that somebody has by now',
  options: withoutLimits,
  expects: '400 invalid_token',
  unavailable,
  async prepare(world) {
    const { email, cookie } = await newcomer(world)
    const token = await mailedToken(world.host, 'verifyEmail', email)
    const taken = { email, password: otherPassword, emailVerified: true }
    await world.host.auth[world.surface].users.create(taken)
    const verify = () => world.send('POST', '/email/verify', { body: { token }, cookie })
    return {
      send: async () => outcomeOf(await verify()),
      reached: () => expectOneAccount(world, email, otherPassword),
    }
  },
}

/** As above, where the same browser registered the address before. */
const registerAgain: Flow = {
  name: '/register once more in the same browser',
  options: withoutLimits,
  expects: '201',
  unavailable,
  async prepare(world) {
    const { email, cookie } = await newcomer(world)
    const body = { email, password: otherPassword }
    return {
      send: async () => outcomeOf(await world.send('POST', '/register', { body, cookie })),
      reached: () => completeRegistration(world, email),
    }
  },
}

const resend: Flow = {
  name: '/email/verify/resend',
  options: withoutLimits,
  expects: '202',
  unavailable,
  async prepare(world) {
    const { email } = await newcomer(world)
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

/** An administrator has it mailed, who names the user to be. */
const resendTo: Flow = {
  name: 'POST /users/{userId}/email-verification of a registration',
  options: { ...withoutLimits, authorizer: { check: async () => true } },
  surface: 'operator',
  expects: '202',
  unavailable: guardedUnavailable,
  async prepare(world) {
    const { bearer } = await world.signIn(await world.person())
    const { email } = await newcomer(world)
    await world.host.auth.close()
    const mailed = world.host.mailer.count(email)
    const [waiting] = await world.stored.pendingRegistrations.find({ email }, { limit: 1 })
    const path = `/users/${waiting?.id ?? ''}/email-verification`
    const ask = () => world.send('POST', path, { bearer })
    return {
      send: async () => outcomeOf(await ask()),
      untouched: [bearer],
      reached: () => askAgainWithoutMail(world, email, mailed, ask),
    }
  },
}

export const registrationFlows: readonly Flow[] = [
  register,
  registerTaken,
  registerAndSignIn,
  registerAgain,
  verifyEmail,
  verifyElsewhere,
  verifyAgain,
  verifyTaken,
  resend,
  resendTo,
  asksForNobody('/email/verify/resend'),
]
