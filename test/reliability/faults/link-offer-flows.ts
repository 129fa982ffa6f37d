import assert from 'node:assert/strict'
import {
  bounced,
  confirm,
  linkOnSignIn,
  signInWith,
  workspaceAccount,
} from '../../contract/oauth/link-offers.js'
import { textOf } from '../../support/hosts/http-client.js'
import type { Account } from '../../support/outside/provider-stub/account.js'
import type { Person } from '../../support/people/people.js'
import { type Flow, guardedUnavailable, outcomeOf, unavailable } from './flow.js'
import { expectLinked, flowOf, options, spent, stepsIn } from './oauth-flows.js'
import type { World } from './world.js'

const offering = { ...options, ...linkOnSignIn }
const surface = 'operator'

/** The session that an account which bounced is offered to. */
async function offered(world: World, who: Person, account: Account) {
  const cookie = await bounced(stepsIn(world), account)
  const login = (await signInWith(world, who, { cookie })).json()
  assert.ok('linkOffer' in login, 'nothing was offered')
  return { bearer: textOf(login, 'accessToken'), cookie, body: { currentPassword: who.password } }
}

const bounces: Flow = {
  name: '/oauth/google/callback that bounces and is noted',
  surface,
  options: offering,
  expects: '302 account_exists_link_required',
  unavailable,
  ends: spent,
  async prepare(world) {
    const who = await world.person()
    const account = workspaceAccount(who)
    return {
      send: await flowOf(world, 'google', account),
      async reached() {
        await expectLinked(world, who.id, [])
        await offered(world, who, account)
      },
    }
  },
}

/** Of the login itself nothing is put at risk: without the offer, its user links as usual. */
const claims: Flow = {
  name: '/login that is offered a link',
  surface,
  options: offering,
  expects: '200',
  unavailable,
  async prepare(world) {
    const who = await world.person()
    const account = workspaceAccount(who)
    const cookie = await bounced(stepsIn(world), account)
    return {
      send: async () => outcomeOf(await signInWith(world, who, { cookie })),
      reached: () => expectLinked(world, who.id, []),
    }
  },
}

const voids: Flow = {
  name: '/login of another user of the browser',
  surface,
  options: offering,
  expects: '200',
  unavailable,
  async prepare(world) {
    const [who, other] = [await world.person(), await world.person()]
    const { cookie, ...session } = await offered(world, who, workspaceAccount(who))
    return {
      send: async () => outcomeOf(await signInWith(world, other, { cookie })),
      async reached() {
        // The other one's session has nothing of it, whatever was cut off.
        const login = (await signInWith(world, other, { cookie })).json()
        assert.ok(!('linkOffer' in login))
        const { status } = await confirm(world, { ...session, cookie })
        assert.equal(status, 409)
      },
    }
  },
}

const confirms: Flow = {
  name: '/oauth/google/link/confirm',
  surface,
  options: offering,
  expects: '204',
  unavailable: guardedUnavailable,
  // The offer is taken first: what was cut off is begun again.
  ends: () => ['409 link_not_offered', '409 identity_already_linked'],
  async prepare(world) {
    const who = await world.person()
    const account = workspaceAccount(who)
    const sent = await offered(world, who, account)
    return {
      send: async () => outcomeOf(await confirm(world, sent)),
      async reached() {
        const { oauthIdentities } = world.stored
        const [known] = await oauthIdentities.find({ userId: who.id }, { limit: 1 })
        if (known === undefined) await confirm(world, await offered(world, who, account))
        await expectLinked(world, who.id, [account.subject])
      },
    }
  },
}

const signsOut: Flow = {
  name: '/logout in the browser of an offer',
  surface,
  options: offering,
  expects: '204',
  unavailable: guardedUnavailable,
  async prepare(world) {
    const who = await world.person()
    const { bearer, cookie } = await offered(world, who, workspaceAccount(who))
    return {
      send: async () =>
        outcomeOf(await world.send('POST', '/logout', { bearer, cookie, body: {} })),
      async reached() {
        const left = await world.stored.linkOffers.find({ userId: who.id }, { limit: 9 })
        assert.deepEqual(left, [])
      },
    }
  },
}

/** Sign-ins by a provider that bounce, and the link that is offered after them. */
export const linkOfferFlows: readonly Flow[] = [bounces, claims, voids, confirms, signsOut]
