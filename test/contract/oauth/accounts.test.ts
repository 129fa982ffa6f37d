import { describe, expect, it } from 'vitest'
import { providerIds } from '../../../src/identity-providers/providers.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import { refreshCookieOf, textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { storedIn, storedUser, type surfaces } from '../../support/hosts/open-host.js'
import { type Account, tenants } from '../../support/outside/provider-stub/account.js'
import { goodPassword, person, signedInPerson } from '../../support/people/people.js'
import { spyBackend } from '../../support/stores/spy-backend.js'
import {
  changeSettings,
  identityOf,
  locationOf,
  memberOf,
  type OauthHost,
  oauthHost,
  storeSettings,
  waitingOf,
  webTarget,
} from './oauth-host.js'

type Surface = (typeof surfaces)[number]

const all = eachSurface.cells.flatMap((surface) =>
  providerIds.map((provider) => ({ surface, provider })),
)

/** What the host's page is told, in a browser and in an app alike; `in` when somebody is signed in. */
async function toldOf(
  host: OauthHost,
  surface: Surface,
  provider: (typeof providerIds)[number],
  account: Account,
): Promise<string> {
  const web = await host.signIn(surface, provider, account)
  const url = await host.departFromApp(surface, provider)
  const app = await host.comeBack(surface, provider, host.stub.agree(url, account))
  expect(memberOf(app, 'error')).toBe(memberOf(web, 'error'))
  if (memberOf(web, 'error') !== '') expect(web.setCookies).toEqual([])
  return memberOf(web, 'error') || 'in'
}

describe.each(all)('somebody else’s address, $provider [$surface]', ({ provider, surface }) => {
  it.each([
    ['confirmed', { emailVerified: true }],
    ['registered by somebody who never confirmed it', { emailVerified: false }],
  ])('opens no account: %s', async (_what, how) => {
    const host = await oauthHost()
    const email = 'victim@example.org'
    const account = { email, password: goodPassword, name: 'Victim', ...how }
    const { id } = await host.auth[surface].users.create(account)
    for (const spelled of [email, 'Victim@Example.ORG', ` ${email}`]) {
      const attacker = { subject: '666', email: spelled, verified: true }
      expect(await toldOf(host, surface, provider, attacker)).toBe('account_exists_link_required')
    }
    const { oauthIdentities, users, families } = storedIn(host, surface)
    expect(await oauthIdentities.find({ userId: id }, { limit: 9 })).toEqual([])
    expect(await users.find({ kind: '' }, { limit: 9 })).toHaveLength(1)
    expect(await families.find({ userId: id }, { limit: 9 })).toEqual([])
    expect(await storedUser(host, surface, email)).toMatchObject({ id, name: 'Victim' })
  })

  it('that nobody vouches for makes no account, and tells nothing of one there is', async () => {
    const host = await oauthHost()
    const { email } = await person(host, surface)
    for (const one of [email, 'nobody@example.org', undefined, 'not an address', 'a@b@c.example']) {
      const unverified = { subject: '667', verified: false, ...(one ? { email: one } : {}) }
      expect(await toldOf(host, surface, provider, unverified)).toBe('oauth_email_unverified')
      expect(await identityOf(host, surface, provider, unverified)).toBeNull()
    }
  })

  it('nor does a name, nor anything else a provider says beside it', async () => {
    const host = await oauthHost()
    const { id } = await person(host, surface)
    host.stub.forge({
      claims: {
        kind: 'service',
        systemRole: 'admin',
        role: 'admin',
        enabled: false,
        id,
        groups: [],
      },
    })
    const account = { subject: '668', email: 'eve@example.org', verified: true, name: 'Ada' }
    expect(await toldOf(host, surface, provider, account)).toBe('in')
    expect(await storedUser(host, surface, 'eve@example.org')).toMatchObject({
      kind: '',
      systemRole: 'guest',
      enabled: true,
      memberships: [],
    })
  })
})

eachSurface.describe('who may sign up', (surface) => {
  const newcomer: Account = { subject: '1', email: 'new@example.org', verified: true }
  const registered =
    surface === 'operator' ? 'registrationOperatorEnabled' : 'registrationClientEnabled'

  it('nobody new while registration is closed; who is known comes in', async () => {
    const open = await oauthHost({ settings: { [registered]: false } })
    expect(await toldOf(open, surface, 'google', newcomer)).toBe('registration_disabled')
    const unverified = { ...newcomer, verified: false }
    expect(await toldOf(open, surface, 'google', unverified)).toBe('registration_disabled')
    // The owner of an address that has an account may know it: signing in is still open to them.
    const { email } = await person(open, surface)
    const owner = { subject: '2', email, verified: true }
    expect(await toldOf(open, surface, 'google', owner)).toBe('account_exists_link_required')
    const stranger = { ...owner, verified: false }
    expect(await toldOf(open, surface, 'google', stranger)).toBe('registration_disabled')
    const host = await oauthHost({ authorizer: { check: async () => true } })
    expect(await toldOf(host, surface, 'google', newcomer)).toBe('in')
    await changeSettings(host, { [registered]: 'false' })
    expect(await toldOf(host, surface, 'google', newcomer)).toBe('in')
    const other = surface === 'operator' ? 'client' : 'operator'
    expect(await toldOf(host, other, 'google', newcomer)).toBe('in')
  })

  it('nobody of another domain', async () => {
    const rule = { slug: 'own', domain: 'example.org', surface }
    const host = await oauthHost({ settings: { registrationAllowedDomains: [rule] } })
    const outside = { ...newcomer, subject: '2', email: 'new@example.net' }
    expect(await toldOf(host, surface, 'github', outside)).toBe('email_domain_not_allowed')
    const below = { ...newcomer, subject: '3', email: 'new@mail.example.org' }
    expect(await toldOf(host, surface, 'github', below)).toBe('email_domain_not_allowed')
    const never = { ...newcomer, subject: '4', email: 'new@example.invalid' }
    expect(await toldOf(host, surface, 'github', never)).toBe('email_not_allowed')
    const vouched = { ...newcomer, hostedDomain: 'example.org' }
    expect(await toldOf(host, surface, 'google', vouched)).toBe('in')
  })

  it.each([
    ['terms_not_accepted', { registrationTermsVersion: '2026-01' }],
    [
      'registration_disabled',
      { registrationOperatorEnabled: false, registrationClientEnabled: false },
    ],
  ] as const)('later by the name that Apple told with %s, for a day', async (why, settings) => {
    const open = { registrationOperatorEnabled: 'true', registrationClientEnabled: 'true' }
    for (const [days, name] of [[0, 'Ada Lovelace'] as const, [1, ''] as const]) {
      const host = await oauthHost({ settings })
      const refused = await host.signIn(surface, 'apple', { ...newcomer, name: 'Ada Lovelace' })
      expect(memberOf(refused, 'error')).toBe(why)
      await storeSettings(host, { ...open, registrationTermsVersion: '' })
      await host.clock.advance(days * 86_400_000)
      await host.signIn(surface, 'apple', newcomer)
      expect(await storedUser(host, surface, newcomer.email ?? '')).toMatchObject({ name })
      const { pendingRegistrations } = storedIn(host, surface)
      expect(await pendingRegistrations.find({ method: '' }, { limit: 9 })).toEqual([])
    }
  })

  it('nobody who did not accept the terms, which start takes along', async () => {
    const host = await oauthHost({ settings: { registrationTermsVersion: '2026-01' } })
    expect(await toldOf(host, surface, 'google', newcomer)).toBe('terms_not_accepted')
    const start = await host.startWeb(surface, 'google', { acceptedTermsVersion: '2025-01' })
    const old = host.stub.agree(locationOf(start), newcomer)
    const cookie = start.setCookies[0]?.split(';')[0] ?? ''
    expect(memberOf(await host.comeBack(surface, 'google', old, cookie), 'error')).toBe(
      'terms_not_accepted',
    )
    const url = await host.departFromApp(surface, 'google', { acceptedTermsVersion: '2026-01' })
    const app = await host.comeBack(surface, 'google', host.stub.agree(url, newcomer))
    expect((await host.exchange(surface, memberOf(app, 'code'))).status).toBe(200)
    const user = await storedUser(host, surface, 'new@example.org')
    expect([user.termsVersion, user.emailVerifiedAt !== null]).toEqual(['2026-01', true])
  })

  it('one person at two tenants is two accounts; one at a tenant stays one', async () => {
    const host = await oauthHost()
    const acme = { ...newcomer, tenant: tenants.acme }
    expect(await toldOf(host, surface, 'microsoft', acme)).toBe('in')
    const evil = { ...newcomer, tenant: tenants.evil }
    expect(await toldOf(host, surface, 'microsoft', evil)).toBe('account_exists_link_required')
    const renamed = { ...acme, email: 'married@example.org' }
    expect(await toldOf(host, surface, 'microsoft', renamed)).toBe('in')
    expect(await host.auth[surface].users.findByEmail('married@example.org')).toBeNull()
  })

  it('eight at once are one account, and who registers the address meanwhile has the other', async () => {
    const host = await oauthHost()
    const flows = await Promise.all([...'12345678'].map(() => host.depart(surface, 'google')))
    const brought = flows.map(({ authorizationUrl }) => host.stub.agree(authorizationUrl, newcomer))
    const [replies] = await Promise.all([
      Promise.all(
        brought.map((one, at) => host.comeBack(surface, 'google', one, flows[at]?.cookie)),
      ),
      host.send('POST', `/v1/auth/${surface}/register`, {
        body: { email: 'new@example.org', password: goodPassword },
      }),
    ])
    const told = new Set(replies.map((reply) => memberOf(reply, 'error')))
    expect(told.size).toBe(1)
    const { users, oauthIdentities } = storedIn(host, surface)
    const found = await users.find({ email: 'new@example.org' }, { limit: 9 })
    expect(found).toHaveLength(1)
    const linked = await oauthIdentities.find({ userId: found[0]?.id ?? '' }, { limit: 9 })
    expect(linked).toHaveLength(told.has('') ? 1 : 0)
  })

  it('an identity whose account a crash left unmade is completed by the next sign-in', async () => {
    const host = await oauthHost()
    await host.signIn(surface, 'google', newcomer)
    const { users } = storedIn(host, surface)
    const { id } = await storedUser(host, surface, 'new@example.org')
    await users.take(id)
    expect(await toldOf(host, surface, 'google', newcomer)).toBe('in')
    expect((await storedUser(host, surface, 'new@example.org')).id).toBe(id)
    // Long after, too.
    await users.take(id)
    await host.clock.advance(24 * 60 * 60_000)
    expect(await toldOf(host, surface, 'google', newcomer)).toBe('in')
    expect((await storedUser(host, surface, 'new@example.org')).id).toBe(id)
  })
})

eachSurface.describe('what follows', (surface) => {
  const ada: Account = { subject: '1815', email: 'ada@example.org', verified: true }
  const at = (path: string): string => `/v1/auth/${surface}${path}`

  it('a provider is a first factor: the policy asks for a second', async () => {
    const policy = { mfaPolicyOperator: 'required', mfaPolicyClient: 'required' } as const
    const host = await oauthHost({ settings: policy })
    const reply = await host.signIn(surface, 'apple', ada)
    expect(memberOf(reply, 'status')).toBe('mfaEnrollmentRequired')
    expect(reply.setCookies.map((cookie) => /_refresh=/.test(cookie))).toEqual([false])
    expect(locationOf(reply).startsWith(webTarget[surface])).toBe(true)
    const { mfaToken, cookie } = waitingOf(reply)
    const begun = await host.send('POST', at('/mfa/totp'), { cookie, body: { mfaToken } })
    expect([begun.status, textOf(begun.json(), 'secret').length > 0]).toEqual([201, true])
  })

  it('a login of a provider proves no second factor', async () => {
    const host = await oauthHost()
    const cookie = refreshCookieOf(await host.signIn(surface, 'google', ada), surface)
    const session = await host.send('GET', at('/session'), { cookie })
    const bearer = textOf(session.json(), 'accessToken')
    const status = (await host.send('GET', at('/mfa'), { bearer })).json()
    expect(status['stepUp']).toEqual({ provedAt: null })
    const trust = await host.send('POST', at('/devices'), { bearer, body: {} })
    expect([trust.status, trust.code]).toEqual([403, 'mfa_enrollment_required'])
  })

  it('a disabled account is told nothing but that it failed', async () => {
    const host = await oauthHost()
    await host.signIn(surface, 'google', ada)
    const { id } = await storedUser(host, surface, 'ada@example.org')
    await host.auth[surface].users.update(id, { enabled: false })
    expect(await toldOf(host, surface, 'google', ada)).toBe('oauth_failed')
  })

  it('each surface has accounts of its own', async () => {
    const host = await oauthHost()
    await host.signIn(surface, 'google', ada)
    const other = surface === 'operator' ? 'client' : 'operator'
    expect(await identityOf(host, surface, 'google', ada)).not.toBeNull()
    expect(await identityOf(host, other, 'google', ada)).toBeNull()
  })

  it('keeps no token of a provider, stored, logged or told', async () => {
    const spy = spyBackend()
    const host = await oauthHost({ backend: spy.backend })
    for (const provider of providerIds) {
      const account = { ...ada, email: `${provider}@example.org` }
      await host.signIn(surface, provider, account)
      await host.signInApp(surface, provider, account)
    }
    await host.auth.close()
    const rows = JSON.stringify(spy.written)
    const told = JSON.stringify([host.logger.lines, host.events, host.mailer.sent])
    expect(host.stub.tokens.length).toBeGreaterThan(20)
    for (const token of host.stub.tokens) {
      expect([rows.includes(token), told.includes(token)]).toEqual([false, false])
    }
    expect(`${rows}${told}`).not.toMatch(/eyJ[\w-]+\.|planted-/)
    // What should be there is, so the search looked in the right place.
    expect(rows).toContain('"provider":"github"')
  })
})

describe('what is on the way is stored', () => {
  it('with its nonce and verifier encrypted, its state and its browser as digests', async () => {
    const host = await oauthHost()
    const { authorizationUrl, cookie } = await host.depart('client', 'google')
    const parameters = new URL(authorizationUrl).searchParams
    const rows = JSON.stringify(await storedIn(host, 'client').challenges.due(1e14, 9))
    for (const name of ['state', 'nonce', 'code_challenge']) {
      expect(rows).not.toContain(parameters.get(name))
    }
    expect(rows).not.toContain(cookie.slice(cookie.indexOf('=') + 1))
    expect(rows).toContain('"sealedSecrets":"enc:v1:')
  })
})

it('a route with somebody signed in is no way around: a bearer changes nothing', async () => {
  const host = await oauthHost()
  const who = await signedInPerson(host, 'client')
  const path = '/v1/auth/client/oauth/google/callback?state=x&code=y'
  expectProblem(await host.send('GET', path, { bearer: who.bearer }), 400, 'invalid_oauth_state')
})
