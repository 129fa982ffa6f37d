import assert from 'node:assert/strict'
import { mailedToken } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { goodPassword, otherPassword } from '../../support/people/people.js'
import { expectAlive, expectEnded } from './endings.js'
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
import { askAgainWithoutMail, asksForNobody, newEmail, signsInWith } from './mail-and-login.js'
import type { Holder, World } from './world.js'

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

/** All done, and the caller could not be told. */
const tokenIsTaken = (struck: Struck): readonly string[] =>
  tookEffect(struck, 'intents.take') ? ['400 invalid_token'] : []

/** The older version is an older link's. */
const isOfOlderLink = (struck: Struck): readonly string[] =>
  readStale(struck, 'intents.get') ? ['400 invalid_token'] : []

const reset: Flow = {
  name: '/password/reset',
  options: withoutLimits,
  expects: '204',
  unavailable,
  ends: tokenIsTaken,
  mayAnswer: isOfOlderLink,
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

/** A passkey that stands, and whose request died before the passkey said so. */
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

/** From a browser, twice, so that the history has a past; its cookie is good for the next refresh. */
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
    const { cookie, bearer } = own
    const change = (currentPassword: string, newPassword: string) =>
      world.send('POST', '/me/password', { bearer, cookie, body: { currentPassword, newPassword } })
    assert.equal((await change(goodPassword, 'quite another passphrase')).status, 204)
    return {
      send: async () => outcomeOf(await change('quite another passphrase', otherPassword)),
      untouched: [bearer],
      async reached() {
        await expectEnded(world, other, ['password_change'])
        assert.equal(await signsInWith(world, email, otherPassword), '200')
        await expectAlive(world, own)
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

/** A link that the host hands over itself. */
const passwordLink: Flow = {
  name: 'users.passwordLink',
  options: withoutLimits,
  expects: 'done',
  unavailable: threwUnavailable,
  async prepare(world) {
    const { users } = world.host.auth[world.surface]
    const { id, email } = await users.create({ email: newEmail(), emailVerified: true })
    world.adopt(id)
    let token = ''
    return {
      send: () =>
        outcomeOfCall(async () => {
          token = (await users.passwordLink(id))?.token ?? ''
        }),
      async reached() {
        const body = { token, newPassword: goodPassword }
        const reply = await world.send('POST', '/password/reset', { body })
        assert.equal(reply.status, 204, reply.text)
        assert.equal(await signsInWith(world, email, goodPassword), '200')
      },
    }
  },
}

export const passwordFlows: readonly Flow[] = [
  forgot,
  passwordLink,
  asksForNobody('/password/forgot'),
  reset,
  resetAgain,
  changePassword(true),
  changePassword(false),
  changeInBrowser,
]
