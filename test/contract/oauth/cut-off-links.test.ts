import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { type Reply, textOf } from '../../support/hosts/http-client.js'
import { eventsOf, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import type { Account } from '../../support/outside/provider-stub/account.js'
import { type Person, type SignedIn, signedInPerson } from '../../support/people/people.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'
import { flowCookieOf, memberOf, oauthHost, webTarget } from './oauth-host.js'

const path = '/v1/auth/operator/oauth/google/link'
const account: Account = { subject: '1815', email: 'countess@example.net', verified: true }
const updates = 'operator_oauth_identities.update'
const minute = 60_000

const resultOf = (back: Reply) => memberOf(back, 'status') || memberOf(back, 'error') || 'signed in'

async function opened() {
  const faulty = faultyBackend(memory())
  const host = await oauthHost({ backend: faulty.backend })
  const ada = await signedInPerson(host, 'operator')
  const start = ({ bearer, password: currentPassword }: Person & SignedIn) =>
    host.send('POST', path, { bearer, body: { redirectUri: webTarget.operator, currentPassword } })
  const begin = () => start(ada)
  async function finish(begun: Reply, by = account) {
    if (begun.status !== 200) return outcomeOf(begun)
    const brought = host.stub.agree(textOf(begun.json(), 'authorizationUrl'), by)
    const back = await host.comeBack('operator', 'google', brought, flowCookieOf(begun))
    return [302, 303].includes(back.status) ? resultOf(back) : outcomeOf(back)
  }
  const link = async (who = ada) => finish(await start(who))
  const signIn = async () => resultOf(await host.signIn('operator', 'google', account))
  const { oauthIdentities } = storedIn(host, 'operator')
  const linked = async ({ id: userId } = ada) =>
    (await oauthIdentities.find({ userId }, { limit: 9 })).length
  return { faulty, host, ada, begin, finish, link, signIn, linked }
}

/** The request that links it dies before it can look at the account once more, and take the identity back. */
async function cutOff() {
  const given = await opened()
  given.faulty.failNext(updates, 'before')
  given.faulty.failNext('operator_oauth_identities.take', 'before')
  expect(await given.link()).toBe('503 service_unavailable')
  expect(await given.linked()).toBe(1)
  return given
}

describe('a link to an account at a provider', () => {
  it.each([
    ['the account cannot be looked at once more', 'operator_users.get', 'before'],
    ['the last write fails', updates, 'before'],
    ['the answer to the last write is lost', updates, 'after'],
  ] as const)('is not made where %s, and can be made again', async (_why, call, mode) => {
    const { faulty, host, link, signIn, linked } = await opened()
    faulty.onCall('operator_oauth_identities.insert', () => faulty.failNext(call, mode))
    expect(await link()).toBe('503 service_unavailable')
    expect([await linked(), eventsOf(host, 'identity.linked')]).toEqual([0, []])
    expect(await link()).toBe('linked')
    expect(eventsOf(host, 'identity.linked')).toHaveLength(1)
    expect(await signIn()).toBe('signed in')
  })

  it('opens nothing before it is made', async () => {
    const { faulty, link, signIn } = await opened()
    const during: string[] = []
    faulty.onCall(updates, async () => void during.push(await signIn()))
    expect([await link(), during, await signIn()]).toEqual([
      'linked',
      ['oauth_failed'],
      'signed in',
    ])
  })

  it('is not made where the owner removes it meanwhile', async () => {
    const { faulty, host, ada, link, linked } = await opened()
    faulty.onCall(updates, async () => {
      const body = { currentPassword: ada.password }
      const unlinked = await host.send('DELETE', path, { bearer: ada.bearer, body })
      expect(unlinked.status).toBe(204)
    })
    expect([await link(), await linked()]).toEqual(['oauth_failed', 0])
  })

  it('is not made where the owner takes the account back meanwhile', async () => {
    const { faulty, host, ada, link, linked } = await opened()
    faulty.onCall(updates, () => host.auth.operator.terminateSessionsOf(ada.id))
    expect([await link(), await linked()]).toEqual(['oauth_failed', 0])
    expect(eventsOf(host, 'identity.linked')).toEqual([])
  })
})

describe('a link that was cut off', () => {
  it('opens nothing where the account could not be looked at once more either', async () => {
    const { faulty, link, signIn, linked } = await opened()
    faulty.onCall('operator_oauth_identities.insert', () => {
      faulty.failNext('operator_users.get', 'before')
      faulty.failNext('operator_oauth_identities.take', 'before')
    })
    expect([await link(), await linked(), await signIn()]).toEqual([
      '503 service_unavailable',
      1,
      'oauth_failed',
    ])
  })

  it('and of another account at the provider stands in the way of no flow that comes back later', async () => {
    const { faulty, host, linked, begin, finish } = await opened()
    const other = { ...account, subject: '1843' }
    const [dies, early, late] = [await begin(), await begin(), await begin()]
    faulty.failNext(updates, 'before')
    faulty.failNext('operator_oauth_identities.take', 'before')
    expect(await finish(dies)).toBe('503 service_unavailable')
    expect(await finish(early, other)).toBe('identity_already_linked')
    expect((await begin()).status).toBe(409)
    await host.clock.advance(minute)
    expect([await finish(late, other), await linked()]).toEqual(['linked', 1])
  })

  it('is not shown as one', async () => {
    const { host, ada } = await cutOff()
    const me = await host.send('GET', '/v1/auth/operator/me', { bearer: ada.bearer })
    expect(me.json()).toMatchObject({ identities: [] })
    expect(await host.auth.operator.identities.list(ada.id)).toEqual([])
  })

  it('is removed by an owner without another way in, whom no refusal must leave with it', async () => {
    const { host, ada, linked, signIn } = await cutOff()
    await storedIn(host, 'operator').users.update(ada.id, { enabled: true }, { passwordHash: null })
    const unlinked = await host.send('DELETE', path, { bearer: ada.bearer, body: {} })
    expect([unlinked.status, await linked()]).toEqual([204, 0])
    expect(eventsOf(host, 'identity.unlinked')).toEqual([])
    await signIn()
    const login = eventsOf(host, 'login.succeeded').at(-1)
    expect(login?.userId === ada.id).toBe(false)
  })

  it('opens nothing, and a minute later stands in the way of nothing', async () => {
    const { host, link, signIn, linked } = await cutOff()
    expect([await signIn(), await link()]).toEqual(['oauth_failed', '409 identity_already_linked'])
    await host.clock.advance(minute)
    expect(await link()).toBe('linked')
    expect([await linked(), await signIn()]).toEqual([1, 'signed in'])
  })

  it('leaves the account at the provider to another user', async () => {
    const { host, link, linked } = await cutOff()
    const grace = await signedInPerson(host, 'operator')
    expect(await link(grace)).toBe('identity_already_linked')
    await host.clock.advance(minute)
    expect(await link(grace)).toBe('linked')
    expect([await linked(), await linked(grace)]).toEqual([0, 1])
  })

  it('does not open the account a minute later either', async () => {
    const { host, ada, signIn, linked } = await cutOff()
    await host.clock.advance(minute)
    expect(await signIn()).toBe('signed in')
    const login = eventsOf(host, 'login.succeeded').at(-1)
    expect([login?.userId === ada.id, await linked()]).toEqual([false, 0])
  })

  it('leaves the account at the provider to an import', async () => {
    const { host, linked } = await cutOff()
    const issuer = 'https://accounts.google.com'
    const identities = [{ provider: 'google' as const, issuer, subject: account.subject }]
    const users = [{ email: 'grace@example.org', emailVerified: true, identities }]
    const importing = async () => {
      const { results } = await host.auth.operator.users.import({ users })
      return results.map((one) => ('code' in one ? one.code : one.outcome)).join()
    }
    expect(await importing()).toBe('identity_taken')
    await host.clock.advance(minute)
    expect([await importing(), await linked()]).toEqual(['created', 0])
  })
})
