import assert from 'node:assert/strict'
import { mailedToken } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { goodPassword, otherPassword, type Person } from '../../support/people/people.js'
import { expectAlive, expectEnded } from './endings.js'
import { type Flow, outcomeOf, readStale, tookEffect, unavailable } from './flow.js'
import { signsInWith } from './mail-and-login.js'
import { expectOneAccount, flowOf, options as oauthOptions, spent } from './oauth-flows.js'
import type { Holder, World } from './world.js'

/** An account with a session, made by a stranger: its address was never confirmed. */
async function squatted(world: World, email?: string): Promise<Person & { held: Holder }> {
  const who = await world.person()
  const held = await world.oldSession(who)
  const address = email ?? who.email
  await world.stored.users.update(
    who.id,
    { enabled: true },
    { emailVerifiedAt: null, selfRegistered: true, email: address },
  )
  return { ...who, email: address, held }
}

async function expectRetired(world: World, { id, email, held }: Person & { held: Holder }) {
  await expectEnded(world, held, ['password_change'])
  assert.equal(await signsInWith(world, email, goodPassword), '401 invalid_credentials')
  assert.notEqual((await world.stored.users.get(id))?.emailVerifiedAt, null)
}

/** A host that signs people in before they confirm. */
const options = {
  ...withoutLimits,
  settings: { ...withoutLimits.settings, emailVerificationRequired: false },
}

/** A store never answers with what was before: the account would count as proved. */
const staleAccount: Flow['leavesOut'] = (struck) => readStale(struck, 'users.get')

const byLink: Flow = {
  name: '/email/verify with another password than the account has',
  options,
  expects: '200',
  unavailable,
  leavesOut: staleAccount,
  // Spent, and all of it done: the caller could not be told.
  ends: (struck) => (tookEffect(struck, 'intents.take') ? ['400 invalid_token'] : []),
  mayAnswer: (struck) => (readStale(struck, 'intents.get') ? ['400 invalid_token'] : []),
  async prepare(world) {
    const who = await squatted(world)
    const { email } = who
    // The link replaces an older one, so that it has a past.
    for (let n = 0; n < 2; n += 1) {
      await world.send('POST', '/email/verify/resend', { body: { email } })
    }
    const token = await mailedToken(world.host, 'verifyEmail', email)
    const body = { token, newPassword: otherPassword }
    const verify = () => world.send('POST', '/email/verify', { body })
    return {
      send: async () => outcomeOf(await verify()),
      async reached() {
        await expectRetired(world, who)
        assert.equal((await verify()).code, 'invalid_token', 'a link was spent twice')
        assert.equal(await signsInWith(world, email, otherPassword), '200')
      },
    }
  },
}

const byPresentPassword: Flow = {
  ...byLink,
  name: '/email/verify with the password that the account has',
  async prepare(world) {
    const who = await squatted(world)
    const { email } = who
    for (let n = 0; n < 2; n += 1) {
      await world.send('POST', '/email/verify/resend', { body: { email } })
    }
    const token = await mailedToken(world.host, 'verifyEmail', email)
    const body = { token, newPassword: goodPassword }
    const verify = () => world.send('POST', '/email/verify', { body })
    return {
      send: async () => outcomeOf(await verify()),
      async reached() {
        await expectAlive(world, who.held)
        assert.notEqual((await world.stored.users.get(who.id))?.emailVerifiedAt, null)
        assert.equal((await verify()).code, 'invalid_token', 'a link was spent twice')
        assert.equal(await signsInWith(world, email, goodPassword), '200')
      },
    }
  },
}

const byLinkAlone: Flow = {
  ...byLink,
  name: '/email/verify of an account without a password',
  async prepare(world) {
    const who = await squatted(world)
    // By the host, which leaves the password to the owner.
    const made = { passwordHash: null, selfRegistered: false }
    await world.stored.users.update(who.id, { enabled: true }, made)
    const { email } = who
    for (let n = 0; n < 2; n += 1) {
      await world.send('POST', '/email/verify/resend', { body: { email } })
    }
    const token = await mailedToken(world.host, 'verifyEmail', email)
    const verify = () => world.send('POST', '/email/verify', { body: { token } })
    return {
      send: async () => outcomeOf(await verify()),
      async reached() {
        await expectRetired(world, who)
        assert.equal((await verify()).code, 'invalid_token', 'a link was spent twice')
      },
    }
  },
}

const byReset: Flow = {
  name: '/password/reset of an account that was never confirmed',
  options,
  expects: '204',
  unavailable,
  leavesOut: staleAccount,
  ends: (struck) => (tookEffect(struck, 'intents.take') ? ['400 invalid_token'] : []),
  mayAnswer: (struck) => (readStale(struck, 'intents.get') ? ['400 invalid_token'] : []),
  async prepare(world) {
    const who = await squatted(world)
    const { email } = who
    for (let n = 0; n < 2; n += 1) await world.send('POST', '/password/forgot', { body: { email } })
    const token = await mailedToken(world.host, 'resetPassword', email)
    const body = { token, newPassword: otherPassword }
    return {
      send: async () => outcomeOf(await world.send('POST', '/password/reset', { body })),
      async reached() {
        await expectRetired(world, who)
        assert.equal(await signsInWith(world, email, otherPassword), '200')
      },
    }
  },
}

let mailboxes = 0

const byProvider: Flow = {
  name: '/oauth/google/callback with an address that a stranger registered',
  options: {
    ...oauthOptions,
    settings: { ...oauthOptions.settings, emailVerificationRequired: false },
  },
  expects: '302 in',
  unavailable,
  ends: spent,
  mayAnswer: (struck) =>
    readStale(struck, 'users.find') ? ['302 account_exists_link_required'] : [],
  async prepare(world) {
    mailboxes += 1
    const email = `squatted-${mailboxes}@gmail.com`
    const who = await squatted(world, email)
    const account = { subject: `squatted-${mailboxes}`, email, verified: true }
    const send = await flowOf(world, 'google', account)
    return {
      send,
      async reached() {
        await expectOneAccount(world, account)
        await expectRetired(world, who)
        assert.equal((await world.stored.users.get(who.id))?.passwordHash, null)
      },
    }
  },
}

export const ownerProofFlows: readonly Flow[] = [
  byLink,
  byPresentPassword,
  byLinkAlone,
  byReset,
  byProvider,
]
