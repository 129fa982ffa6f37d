import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { ProviderId } from '../../../src/identity-providers/providers.js'
import {
  flowCookieOf,
  memberOf,
  oauthOptions,
  oauthSteps,
  waitingOf,
  webTarget,
} from '../../contract/oauth/oauth-host.js'
import { type Reply, textOf } from '../../support/hosts/http-client.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import type { Account } from '../../support/outside/provider-stub/account.js'
import { codeOf } from '../../support/people/authenticator.js'
import {
  type Flow,
  guardedUnavailable,
  type Outcome,
  outcomeOf,
  readStale,
  unavailable,
} from './flow.js'
import type { World } from './world.js'

/** Of the world under test: a provider's clock is as right as ours. */
let now = () => 0
const { stub, settings } = await oauthOptions(() => now())
export const options = {
  ...withoutLimits,
  fetcher: stub,
  settings: { ...withoutLimits.settings, ...settings },
  authorizer: { check: async () => true },
}

let accounts = 0

export function stranger(): Account {
  accounts += 1
  const email = `provider-${accounts}@example.org`
  return { subject: String(9000 + accounts), email, verified: true }
}

export function stepsIn({ host }: World) {
  now = () => host.clock.now()
  return oauthSteps(host, stub)
}

/** With where the browser is sent on to: `302 in`, or what the host's page is told. */
export function arrivalOf(reply: Reply): Outcome {
  const outcome = outcomeOf(reply)
  if (![302, 303].includes(reply.status)) return outcome
  const told = memberOf(reply, 'error') || memberOf(reply, 'status') || memberOf(reply, 'code')
  return { ...outcome, is: `302 ${told.length > 40 ? 'code' : told || 'in'}` }
}

/** A flow up to the callback; sent again, it is the same answer once more. */
export async function flowOf(world: World, provider: ProviderId, account: Account) {
  const steps = stepsIn(world)
  const { authorizationUrl, cookie } = await steps.depart(world.surface, provider)
  const brought = stub.agree(authorizationUrl, account)
  return async () => arrivalOf(await steps.comeBack(world.surface, provider, brought, cookie))
}

/** Whatever was cut off: the next flow gets in, to one account with one identity of its own. */
export async function expectOneAccount(world: World, account: Account): Promise<void> {
  const reply = await stepsIn(world).signIn(world.surface, 'google', account)
  assert.equal(arrivalOf(reply).is, '302 in')
  const { users, oauthIdentities } = world.stored
  const found = await users.find({ email: account.email ?? '' }, { limit: 2 })
  const [user] = found
  assert.ok(user !== undefined && found.length === 1, 'there is not one account')
  const identities = await oauthIdentities.find({ userId: user.id }, { limit: 9 })
  assert.deepEqual(
    identities.map(({ subject, provider }) => [provider, subject]),
    [['google', account.subject]],
  )
}

/** Answered or not, an answer counts once: whoever was cut off starts over. */
export const spent = () => ['400 invalid_oauth_state']

const begins: Flow = {
  name: '/oauth/google/start',
  options,
  expects: '302 in',
  unavailable,
  async prepare(world) {
    const account = stranger()
    const steps = stepsIn(world)
    return {
      async send() {
        const reply = await steps.startWeb(world.surface, 'google')
        const outcome = outcomeOf(reply)
        return [302, 303].includes(reply.status) ? { ...outcome, is: '302 in' } : outcome
      },
      reached: () => expectOneAccount(world, account),
    }
  },
}

const signsUp: Flow = {
  name: '/oauth/google/callback of somebody new',
  options,
  expects: '302 in',
  unavailable,
  ends: spent,
  async prepare(world) {
    const account = stranger()
    const send = await flowOf(world, 'google', account)
    return { send, reached: () => expectOneAccount(world, account) }
  },
}

const signsIn: Flow = {
  name: '/oauth/google/callback of somebody known',
  options,
  expects: '302 in',
  unavailable,
  ends: spent,
  async prepare(world) {
    const account = stranger()
    await expectOneAccount(world, account)
    const send = await flowOf(world, 'google', account)
    return { send, reached: () => expectOneAccount(world, account) }
  },
}

const waits: Flow = {
  name: '/oauth/google/callback of somebody who has to enrol a factor first',
  options: {
    ...options,
    settings: { ...options.settings, mfaPolicyOperator: 'required', mfaPolicyClient: 'required' },
  },
  expects: '302 mfaEnrollmentRequired',
  unavailable,
  ends: spent,
  async prepare(world) {
    const account = stranger()
    const arrives = async () => {
      const send = await flowOf(world, 'google', account)
      return { send, reached: async () => assert.equal((await send()).is, waits.expects) }
    }
    await (await arrives()).reached()
    return { ...(await arrives()), reached: async () => (await arrives()).reached() }
  },
}

const meetsTaken: Flow = {
  name: '/oauth/google/callback with an address that has an account',
  options,
  expects: '302 account_exists_link_required',
  unavailable,
  ends: spent,
  async prepare(world) {
    const { email, id } = await world.person()
    const account = { ...stranger(), email }
    const send = await flowOf(world, 'google', account)
    return {
      send,
      async reached() {
        const again = await flowOf(world, 'google', account)
        assert.equal((await again()).is, '302 account_exists_link_required')
        const { oauthIdentities } = world.stored
        assert.deepEqual(await oauthIdentities.find({ userId: id }, { limit: 9 }), [])
      },
    }
  },
}

const meetsTakenWhereClosed: Flow = {
  ...meetsTaken,
  name: '/oauth/google/callback with an address that has an account, registration closed',
  options: {
    ...options,
    settings: {
      ...options.settings,
      registrationOperatorEnabled: false,
      registrationClientEnabled: false,
    },
  },
}

export async function appFlow(world: World, account: Account) {
  const steps = stepsIn(world)
  const url = await steps.departFromApp(world.surface, 'google')
  const brought = stub.agree(url, account)
  return () => steps.comeBack(world.surface, 'google', brought)
}

const comesToApp: Flow = {
  name: '/oauth/google/callback on the way to an app',
  options,
  expects: '302 code',
  unavailable,
  ends: spent,
  async prepare(world) {
    const account = stranger()
    const comeBack = await appFlow(world, account)
    return {
      send: async () => arrivalOf(await comeBack()),
      reached: () => expectOneAccount(world, account),
    }
  },
}

const exchanges: Flow = {
  name: '/mobile/oauth/exchange',
  options,
  expects: '200',
  unavailable,
  ends: () => ['400 invalid_token'],
  async prepare(world) {
    const account = stranger()
    const back = await (await appFlow(world, account))()
    const code = memberOf(back, 'code')
    const { exchange } = stepsIn(world)
    return {
      send: async () => outcomeOf(await exchange(world.surface, code)),
      reached: () => expectOneAccount(world, account),
    }
  },
}

export const exchangesAgain: Flow = {
  name: '/mobile/oauth/exchange of a code that comes again',
  options,
  expects: '400 invalid_token',
  unavailable,
  async prepare(world) {
    const back = await (await appFlow(world, stranger()))()
    const code = memberOf(back, 'code')
    const { exchange } = stepsIn(world)
    const first = await exchange(world.surface, code)
    const refreshToken = textOf(first.json(), 'refreshToken')
    return {
      send: async () => outcomeOf(await exchange(world.surface, code)),
      async reached() {
        const refreshed = await world.send('POST', '/refresh', { body: { refreshToken } })
        assert.equal(outcomeOf(refreshed).is, '401 session_revoked')
      },
    }
  },
}

export const enrollsOnTheWayIn: Flow = {
  name: '/mfa/totp/confirm on the way in by a provider',
  options: {
    ...options,
    settings: { ...options.settings, mfaPolicyOperator: 'required', mfaPolicyClient: 'required' },
  },
  expects: '200',
  unavailable: guardedUnavailable,
  // Confirmed, and the answer was lost: the login is begun again, and asks for the factor.
  ends: () => ['401 invalid_mfa_code', '401 mfa_ticket_invalid'],
  async prepare(world) {
    const account = stranger()
    const { signIn } = stepsIn(world)
    const { mfaToken, cookie } = waitingOf(await signIn(world.surface, 'google', account))
    const begun = await world.send('POST', '/mfa/totp', { cookie, body: { mfaToken } })
    const code = codeOf(world.host, textOf(begun.json(), 'secret'))
    return {
      async send() {
        const body = { mfaToken, code }
        return outcomeOf(await world.send('POST', '/mfa/totp/confirm', { cookie, body }))
      },
      async reached() {
        const again = arrivalOf(await signIn(world.surface, 'google', account))
        assert.equal(again.is, '302 mfaRequired')
      },
    }
  },
}

const linkPath = '/oauth/google/link'

/** An operator with a password, and what begins a link of theirs. */
export async function linker(world: World) {
  const who = await world.person()
  const { bearer } = await world.signIn(who)
  const body = { redirectUri: webTarget.operator, currentPassword: who.password }
  const begin = () => world.send('POST', linkPath, { bearer, body })
  const unlink = () =>
    world.send('DELETE', linkPath, { bearer, body: { currentPassword: who.password } })
  return { who, bearer, begin, unlink }
}

export async function linkFlow(world: World, begun: Reply, account: Account) {
  const brought = stub.agree(textOf(begun.json(), 'authorizationUrl'), account)
  const cookie = flowCookieOf(begun)
  const steps = stepsIn(world)
  return async () => arrivalOf(await steps.comeBack('operator', 'google', brought, cookie))
}

export async function expectLinked(world: World, userId: string, subjects: readonly string[]) {
  const linked = await world.stored.oauthIdentities.find({ userId }, { limit: 9 })
  assert.deepEqual(
    linked.map(({ subject }) => subject),
    subjects,
  )
}

const beginsLink: Flow = {
  name: '/oauth/google/link',
  surface: 'operator',
  options,
  expects: '200',
  unavailable: guardedUnavailable,
  async prepare(world) {
    const { who, begin } = await linker(world)
    return {
      send: async () => outcomeOf(await begin()),
      reached: () => expectLinked(world, who.id, []),
    }
  },
}

const links: Flow = {
  name: '/oauth/google/callback that links',
  surface: 'operator',
  options,
  expects: '302 linked',
  unavailable,
  ends: spent,
  async prepare(world) {
    const account = stranger()
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

const unlinks: Flow = {
  name: 'DELETE /oauth/google/link',
  surface: 'operator',
  options,
  expects: '204',
  unavailable: guardedUnavailable,
  // It was removed, and the answer was lost.
  ends: () => ['404 not_found'],
  async prepare(world) {
    const { who, begin, unlink } = await linker(world)
    await (await linkFlow(world, await begin(), stranger()))()
    return {
      send: async () => outcomeOf(await unlink()),
      reached: () => expectLinked(world, who.id, []),
    }
  },
}

const unlinksBegun: Flow = {
  name: 'DELETE /oauth/google/link of a link that was cut off',
  surface: 'operator',
  options,
  expects: '204',
  unavailable: guardedUnavailable,
  // It was removed, and the answer was lost.
  ends: () => ['404 not_found'],
  async prepare(world) {
    const { who, unlink } = await linker(world)
    await world.stored.oauthIdentities.insert({
      ...{ id: randomUUID(), userId: who.id, provider: 'google', subject: '1815' },
      ...{ issuer: 'https://accounts.google.com' },
      ...{ linkedAt: world.host.clock.now(), removingBy: 'link begun', expiresAt: null },
    })
    return {
      send: async () => outcomeOf(await unlink()),
      reached: () => expectLinked(world, who.id, []),
    }
  },
}

const keepsLast: Flow = {
  name: 'DELETE of the last way in',
  surface: 'operator',
  options,
  expects: '409 last_login_method',
  unavailable: guardedUnavailable,
  // A replica that lags behind still shows the password, by which somebody could sign in.
  leavesOut: (struck) => readStale(struck, '_users.get'),
  async prepare(world) {
    const account = stranger()
    const { who, begin } = await linker(world)
    await (await linkFlow(world, await begin(), account))()
    const { users } = world.stored
    const administrator = await world.signIn(await world.person())
    await users.update(who.id, { enabled: true }, { passwordHash: null })
    const path = `/users/${who.id}${linkPath.replace('/link', '')}`
    return {
      send: async () =>
        outcomeOf(await world.send('DELETE', path, { bearer: administrator.bearer })),
      reached: () => expectLinked(world, who.id, [account.subject]),
    }
  },
}

/** Flows to providers, in browsers, in apps and to link. */
export const oauthFlows: readonly Flow[] = [
  begins,
  signsUp,
  signsIn,
  waits,
  meetsTaken,
  meetsTakenWhereClosed,
  comesToApp,
  exchanges,
  exchangesAgain,
  enrollsOnTheWayIn,
  beginsLink,
  links,
  unlinks,
  unlinksBegun,
  keepsLast,
]
