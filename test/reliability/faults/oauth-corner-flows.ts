import assert from 'node:assert/strict'
import { memberOf } from '../../contract/oauth/oauth-host.js'
import { textOf } from '../../support/hosts/http-client.js'
import type { Account } from '../../support/outside/provider-stub/account.js'
import { codeOf } from '../../support/people/authenticator.js'
import { type Flow, outcomeOf, readStale, unavailable } from './flow.js'
import {
  appFlow,
  arrivalOf,
  enrollsOnTheWayIn,
  exchangesAgain,
  expectLinked,
  expectOneAccount,
  flowOf,
  linker,
  linkFlow,
  options,
  spent,
  stepsIn,
  stranger,
} from './oauth-flows.js'
import type { World } from './world.js'

const second = 1000

const exchangesOnceMore: Flow = {
  ...exchangesAgain,
  name: '/mobile/oauth/exchange of a code that came again before',
  async prepare(world) {
    const attempt = await exchangesAgain.prepare(world)
    await attempt.send()
    return attempt
  },
}

const enrollsInApp: Flow = {
  ...enrollsOnTheWayIn,
  name: '/mfa/totp/confirm on the way in by a provider, in an app',
  async prepare(world) {
    const account = stranger()
    const { signIn, exchange } = stepsIn(world)
    const back = await (await appFlow(world, account))()
    const mfaToken = textOf(
      (await exchange(world.surface, memberOf(back, 'code'))).json(),
      'mfaToken',
    )
    const begun = await world.send('POST', '/mfa/totp', { body: { mfaToken } })
    const code = codeOf(world.host, textOf(begun.json(), 'secret'))
    return {
      send: async () =>
        outcomeOf(await world.send('POST', '/mfa/totp/confirm', { body: { mfaToken, code } })),
      async reached() {
        const again = await signIn(world.surface, 'google', account)
        assert.equal(arrivalOf(again).is, '302 mfaRequired')
      },
    }
  },
}

/** A sign-up that a crash cut off before there was an account, `ms` milliseconds ago. */
async function cutOff(world: World, account: Account, ms: number): Promise<void> {
  await expectOneAccount(world, account)
  const { users } = world.stored
  const [user] = await users.find({ email: account.email ?? '' }, { limit: 1 })
  assert.ok(user, 'nobody signed up')
  await users.take(user.id)
  await world.host.clock.advance(ms)
}

/** The account was there only to be taken away: after a crash no replica ever had it. */
const neverThere: Flow['leavesOut'] = (struck) => readStale(struck, '_users.get')

const goesOn: Flow = {
  name: '/oauth/google/callback that goes on with a sign-up cut off',
  options,
  expects: '302 in',
  unavailable,
  ends: spent,
  leavesOut: neverThere,
  async prepare(world) {
    const account = stranger()
    await cutOff(world, account, 40 * second)
    const send = await flowOf(world, 'google', account)
    return { send, reached: () => expectOneAccount(world, account) }
  },
}

const linksWhatWasCutOff: Flow = {
  name: '/oauth/google/callback that links what a sign-up left',
  surface: 'operator',
  options,
  expects: '302 linked',
  unavailable,
  ends: spent,
  leavesOut: neverThere,
  async prepare(world) {
    const account = stranger()
    await cutOff(world, account, 61 * second)
    const { who, begin } = await linker(world)
    const send = await linkFlow(world, await begin(), account)
    return {
      send,
      async reached() {
        const again = await begin()
        if (again.status === 200) await (await linkFlow(world, again, account))()
        await expectLinked(world, who.id, [account.subject])
      },
    }
  },
}

/** What is left of earlier flows, and what comes of it. */
export const oauthCornerFlows: readonly Flow[] = [
  exchangesOnceMore,
  enrollsInApp,
  goesOn,
  linksWhatWasCutOff,
]
