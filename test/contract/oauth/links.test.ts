import { describe, expect, it } from 'vitest'
import { type ProviderId, providerIds } from '../../../src/identity-providers/providers.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import { type Reply, textOf } from '../../support/hosts/http-client.js'
import { eachHost, eachSurface } from '../../support/hosts/matrix.js'
import { storedIn } from '../../support/hosts/open-host.js'
import type { Account } from '../../support/outside/provider-stub/account.js'
import { codeOf, enrolled } from '../../support/people/authenticator.js'
import {
  goodPassword,
  type Person,
  type SignedIn,
  signedInPerson,
} from '../../support/people/people.js'
import {
  flowCookieOf,
  locationOf,
  memberOf,
  type OauthHost,
  oauthHost,
  storeSettings,
  webTarget,
} from './oauth-host.js'

type Someone = Person & SignedIn

const atGoogle: Account = { subject: '1815', email: 'countess@example.net', verified: true }
const redirectUri = webTarget.operator

const path = (provider: string): string => `/v1/auth/operator/oauth/${provider}/link`

function startLink(host: OauthHost, who: Someone, provider: string, more: object = {}) {
  const body = { redirectUri, currentPassword: who.password, ...more }
  return host.send('POST', path(provider), { bearer: who.bearer, body })
}

async function link(
  host: OauthHost,
  who: Someone,
  provider: ProviderId,
  account: Account,
): Promise<Reply> {
  const begun = await startLink(host, who, provider)
  expect(begun.status, begun.text).toBe(200)
  const brought = host.stub.agree(textOf(begun.json(), 'authorizationUrl'), account)
  return host.comeBack('operator', provider, brought, flowCookieOf(begun))
}

function unlink(host: OauthHost, who: Pick<Someone, 'bearer'>, provider: string, body?: object) {
  const given = body === undefined ? {} : { body }
  return host.send('DELETE', path(provider), { bearer: who.bearer, ...given })
}

async function identitiesOf(host: OauthHost, who: Pick<Someone, 'bearer'>): Promise<string[]> {
  const me = await host.send('GET', '/v1/auth/operator/me', { bearer: who.bearer })
  const { identities } = me.json()
  if (!Array.isArray(identities)) throw new Error('identities is no list')
  return identities.map(({ provider }) => String(provider)).sort()
}

/** Somebody of the operator surface who has no password: both ways in are providers. */
async function withoutPassword(host: OauthHost, providers: readonly ProviderId[]) {
  const [first = 'google'] = providers
  const account = { subject: '99', email: 'grace@example.org', verified: true }
  const url = await host.departFromApp('operator', first)
  const back = await host.comeBack('operator', first, host.stub.agree(url, account))
  const login = (await host.exchange('operator', memberOf(back, 'code'))).json()
  const bearer = textOf(login, 'accessToken')
  const who = { bearer, id: textOf(Object(login['user']), 'id') }
  for (const provider of providers.slice(1)) {
    const body = { redirectUri }
    const begun = await host.send('POST', path(provider), { bearer, body })
    expect(begun.status, begun.text).toBe(200)
    const brought = host.stub.agree(textOf(begun.json(), 'authorizationUrl'), account)
    await host.comeBack('operator', provider, brought, flowCookieOf(begun))
  }
  return who
}

eachHost.describe('linking', (kind) => {
  it.each(providerIds)(
    'an operator links %s, and signs in with it from then on',
    async (provider) => {
      const host = await oauthHost({}, kind)
      const who = await signedInPerson(host, 'operator')
      const reply = await link(host, who, provider, atGoogle)
      expect([reply.status, memberOf(reply, 'status')]).toEqual([302, 'linked'])
      // It is no login: no session begins, and the one there is goes on.
      expect(reply.setCookies).toEqual([])
      expect(await identitiesOf(host, who)).toEqual([provider])
      const login = await host.signIn('operator', provider, atGoogle)
      expect(locationOf(login)).toBe(redirectUri)
      const families = await storedIn(host, 'operator').families.find(
        { userId: who.id },
        { limit: 10 },
      )
      expect(families).toHaveLength(2)
      expect((await unlink(host, who, provider, { currentPassword: who.password })).status).toBe(
        204,
      )
      expect(await identitiesOf(host, who)).toEqual([])
      expectProblem(
        await unlink(host, who, provider, { currentPassword: who.password }),
        404,
        'not_found',
      )
      // Its owner is a stranger again.
      const after = await host.signIn('operator', provider, { ...atGoogle, verified: false })
      expect(memberOf(after, 'error')).toMatch(/^oauth_email_unverified$/)
    },
  )

  it('of the last two ways in, two removed at once leave one', async () => {
    const host = await oauthHost({ mailedCode: false }, kind)
    for (let round = 0; round < 4; round += 1) {
      const who = await withoutPassword(host, ['google', 'github'])
      const replies = await Promise.all([unlink(host, who, 'google'), unlink(host, who, 'github')])
      const left = await identitiesOf(host, who)
      expect(left.length).toBeGreaterThanOrEqual(1)
      expect(replies.filter(({ status }) => status === 204)).toHaveLength(2 - left.length)
      for (const { status, code } of replies.filter((reply) => reply.status !== 204)) {
        expect([status, code]).toEqual([409, 'last_login_method'])
      }
      const { users, oauthIdentities } = storedIn(host, 'operator')
      for (const one of await oauthIdentities.find({ userId: who.id }, { limit: 9 })) {
        expect(one.removingBy).toBeNull()
        await oauthIdentities.take(one.id)
      }
      await users.take(who.id)
    }
  })
})

describe('linking', () => {
  it('the same account in two tabs is one link, and no error', async () => {
    const host = await oauthHost()
    const who = await signedInPerson(host, 'operator')
    const tabs = [await startLink(host, who, 'google'), await startLink(host, who, 'google')]
    for (const begun of tabs) {
      const brought = host.stub.agree(textOf(begun.json(), 'authorizationUrl'), atGoogle)
      const reply = await host.comeBack('operator', 'google', brought, flowCookieOf(begun))
      expect(memberOf(reply, 'status')).toBe('linked')
    }
    expect(await identitiesOf(host, who)).toEqual(['google'])
  })

  it('is there for operators alone', async () => {
    const host = await oauthHost()
    const who = await signedInPerson(host, 'client')
    const client = '/v1/auth/client/oauth/google/link'
    const body = { redirectUri: webTarget.client, currentPassword: who.password }
    for (const method of ['POST', 'DELETE', 'GET']) {
      const given = method === 'GET' ? {} : { body }
      const reply = await host.send(method, client, { bearer: who.bearer, ...given })
      expectProblem(reply, 404, 'not_found')
    }
    const admin = `/v1/auth/client/users/${who.id}/oauth/google`
    expectProblem(await host.send('DELETE', admin, { bearer: who.bearer }), 404, 'not_found')
    const { bearer, password } = await signedInPerson(host, 'operator')
    const begun = await host.send('POST', '/v1/auth/operator/oauth/google/link', {
      bearer,
      body: { redirectUri: webTarget.operator, currentPassword: password },
    })
    expect(begun.status, begun.text).toBe(200)
    // The route is there: it asks who comes.
    expectProblem(await host.send('DELETE', '/v1/auth/operator/oauth/google/link'), 401)
  })

  it('asks for the password, or for a fresh second factor', async () => {
    const host = await oauthHost()
    const who = await signedInPerson(host, 'operator')
    for (const currentPassword of [undefined, 'not the password at all']) {
      const reply = await startLink(host, who, 'google', { currentPassword })
      expectProblem(reply, 401, 'invalid_credentials')
      expect(reply.setCookies).toEqual([])
    }
    await link(host, who, 'google', atGoogle)
    expectProblem(await unlink(host, who, 'google'), 401, 'invalid_credentials')
    expectProblem(await host.send('DELETE', path('google')), 401)

    const strong = await enrolled(host, 'operator')
    const refused = await startLink(host, strong, 'github')
    expect([refused.status, refused.code]).toEqual([403, 'step_up_required'])
    const body = { method: 'totp', code: await strong.nextCode() }
    await host.send('POST', '/v1/auth/operator/step-up', { bearer: strong.bearer, body })
    expect((await startLink(host, strong, 'github')).status).toBe(200)
  })

  it('is not for an account whose address nobody confirmed', async () => {
    const host = await oauthHost({ settings: { emailVerificationRequired: false } })
    const account = { email: 'victim@example.org', password: goodPassword }
    await host.auth.operator.users.create(account)
    const login = await host.send('POST', '/v1/auth/operator/login', { body: account })
    const who = { bearer: textOf(login.json(), 'accessToken'), password: goodPassword }
    const reply = await startLink(
      host,
      { ...who, id: '', email: '', cookie: '', refreshToken: '' },
      'google',
    )
    expectProblem(reply, 403, 'email_not_verified')
  })

  it('one account of a provider for one user, and one user for one account', async () => {
    const host = await oauthHost()
    const [ada, eve] = [
      await signedInPerson(host, 'operator'),
      await signedInPerson(host, 'operator'),
    ]
    await link(host, ada, 'google', atGoogle)
    expectProblem(await startLink(host, ada, 'google'), 409, 'identity_already_linked')
    const stolen = await link(host, eve, 'google', atGoogle)
    expect(memberOf(stolen, 'error')).toBe('identity_already_linked')
    expect([await identitiesOf(host, ada), await identitiesOf(host, eve)]).toEqual([['google'], []])
  })

  it('two flows begun before either came back link one account', async () => {
    const host = await oauthHost()
    const who = await signedInPerson(host, 'operator')
    const begun = [await startLink(host, who, 'google'), await startLink(host, who, 'google')]
    const backs = await Promise.all(
      begun.map((one, at) => {
        const url = textOf(one.json(), 'authorizationUrl')
        const brought = host.stub.agree(url, { ...atGoogle, subject: `18${at}` })
        return host.comeBack('operator', 'google', brought, flowCookieOf(one))
      }),
    )
    expect(backs.map((back) => memberOf(back, 'status') || memberOf(back, 'error')).sort()).toEqual(
      ['identity_already_linked', 'linked'],
    )
    expect(await identitiesOf(host, who)).toEqual(['google'])
  })

  it('comes back to the browser it began in, and to a session that goes on', async () => {
    const host = await oauthHost()
    const [ada, eve] = [
      await signedInPerson(host, 'operator'),
      await signedInPerson(host, 'operator'),
    ]
    const begun = await startLink(host, eve, 'google')
    const others = await startLink(host, ada, 'google')
    const brought = host.stub.agree(textOf(begun.json(), 'authorizationUrl'), atGoogle)
    const wrong = await host.comeBack('operator', 'google', brought, flowCookieOf(others))
    expectProblem(wrong, 400, 'invalid_oauth_state')
    await host.send('POST', '/v1/auth/operator/logout', { bearer: eve.bearer })
    const late = await host.comeBack('operator', 'google', brought, flowCookieOf(begun))
    expect(memberOf(late, 'error')).toBe('oauth_failed')
    expect(
      await storedIn(host, 'operator').oauthIdentities.find({ userId: eve.id }, { limit: 9 }),
    ).toEqual([])
  })

  it('comes back to no account whose factors were changed meanwhile', async () => {
    const host = await oauthHost()
    const who = await signedInPerson(host, 'operator')
    const { bearer, password } = who
    const begun = await startLink(host, who, 'google')
    const app = '/v1/auth/operator/mfa/totp'
    const body = { currentPassword: password }
    const secret = textOf((await host.send('POST', app, { bearer, body })).json(), 'secret')
    const code = codeOf(host, secret)
    const confirmed = await host.send('POST', `${app}/confirm`, { bearer, body: { code } })
    expect(confirmed.status).toBe(200)
    const brought = host.stub.agree(textOf(begun.json(), 'authorizationUrl'), atGoogle)
    const late = await host.comeBack('operator', 'google', brought, flowCookieOf(begun))
    expect(memberOf(late, 'error')).toBe('oauth_failed')
    expect(await identitiesOf(host, who)).toEqual([])
  })

  it.each([
    ['idle for too long', { env: { JWT_REFRESH_TOKEN_EXPIRY: '1h' } }, {}],
    ['too old', {}, { sessionAbsoluteTTL: '1h' }],
  ])('comes back to no session that was %s meanwhile', async (_what, options, more) => {
    const settings = { accessTokenTTL: '1h', ...more }
    const host = await oauthHost({ ...options, settings })
    const who = await signedInPerson(host, 'operator')
    await host.clock.advance(55 * 60_000)
    const [begun, other] = [
      await startLink(host, who, 'google'),
      await startLink(host, who, 'apple'),
    ]
    const comeBack = (reply: Reply, provider: ProviderId) => {
      const brought = host.stub.agree(textOf(reply.json(), 'authorizationUrl'), atGoogle)
      return host.comeBack('operator', provider, brought, flowCookieOf(reply))
    }
    await host.clock.advance(5 * 60_000 - 1)
    expect(memberOf(await comeBack(begun, 'google'), 'status')).toBe('linked')
    await host.clock.advance(2)
    expect(memberOf(await comeBack(other, 'apple'), 'error')).toBe('oauth_failed')
    const { oauthIdentities } = storedIn(host, 'operator')
    expect(await oauthIdentities.find({ userId: who.id }, { limit: 9 })).toHaveLength(1)
  })

  it('takes an account that a sign-up cut short left to nobody, and none of somebody’s', async () => {
    const host = await oauthHost()
    await host.signIn('operator', 'google', atGoogle)
    const who = await signedInPerson(host, 'operator')
    const taken = await link(host, who, 'google', atGoogle)
    expect(memberOf(taken, 'error')).toBe('identity_already_linked')
    const { users } = storedIn(host, 'operator')
    const [half] = await users.find({ email: 'countess@example.net' }, { limit: 1 })
    await users.take(half?.id ?? '')
    await host.clock.advance(60_000 - 1)
    // The sign-up may still be under way.
    const early = await link(host, who, 'google', atGoogle)
    expect(memberOf(early, 'error')).toBe('identity_already_linked')
    await host.clock.advance(1)
    expect(memberOf(await link(host, who, 'google', atGoogle), 'status')).toBe('linked')
    expect(await identitiesOf(host, who)).toEqual(['google'])
    expect(locationOf(await host.signIn('operator', 'google', atGoogle))).toBe(redirectUri)
    expect(await users.find({ email: 'countess@example.net' }, { limit: 1 })).toEqual([])
  })

  it('enforces the origin, as whatever changes an account with a cookie about', async () => {
    const host = await oauthHost()
    const who = await signedInPerson(host, 'operator')
    const body = { redirectUri, currentPassword: who.password }
    const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    for (const method of ['POST', 'DELETE']) {
      const reply = await host.send(method, path('google'), { bearer: who.bearer, body, headers })
      expectProblem(reply, 403, 'csrf_rejected')
    }
  })

  it.each(['facebook', '__proto__', 'constructor'])('of %s is 404', async (provider) => {
    const host = await oauthHost()
    const who = await signedInPerson(host, 'operator')
    expectProblem(await startLink(host, who, provider), 404, 'not_found')
    const body = { currentPassword: who.password }
    expectProblem(await unlink(host, who, provider, body), 404, 'not_found')
  })
})

describe('the last way in', () => {
  it('is not removed: a provider that is the only one', async () => {
    const host = await oauthHost({ mailedCode: false })
    const who = await withoutPassword(host, ['google'])
    expectProblem(await unlink(host, who, 'google'), 409, 'last_login_method')
    expect(await identitiesOf(host, who)).toEqual(['google'])
    expect((await host.signIn('operator', 'google', { subject: '99' })).status).toBe(302)
  })

  it('is not removed: a password counts where password login is on, a provider where it is on', async () => {
    const settings = { passwordLoginOperatorEnabled: true, githubOperatorEnabled: true }
    const host = await oauthHost({
      mailedCode: false,
      settings,
      authorizer: { check: async () => true },
    })
    const admin = await signedInPerson(host, 'operator')
    const who = await signedInPerson(host, 'operator')
    await link(host, who, 'google', atGoogle)
    await link(host, who, 'github', { ...atGoogle, subject: '7' })
    const set = async (config: object) => {
      const at = '/v1/admin/modules/auth/environments/production'
      const reply = await host.send('PATCH', at, { bearer: admin.bearer, body: { config } })
      expect(reply.status, reply.text).toBe(200)
    }
    await set({ passwordLoginOperatorEnabled: 'false', githubOperatorEnabled: 'false' })
    const body = { currentPassword: who.password }
    expectProblem(await unlink(host, who, 'google', body), 409, 'last_login_method')
    await set({ githubOperatorEnabled: 'true' })
    expect((await unlink(host, who, 'google', body)).status).toBe(204)
    expectProblem(await unlink(host, who, 'github', body), 409, 'last_login_method')
    await set({ passwordLoginOperatorEnabled: 'true' })
    expect((await unlink(host, who, 'github', body)).status).toBe(204)
  })

  it('is not removed for a provider that is on and lacks a secret', async () => {
    const host = await oauthHost({ mailedCode: false })
    const who = await withoutPassword(host, ['google', 'github'])
    await storeSettings(host, { githubClientSecret: '' })
    expectProblem(await unlink(host, who, 'google'), 409, 'last_login_method')
  })

  it('a mark that a crash left behind stops nobody: it signs in, and can be removed', async () => {
    const host = await oauthHost({ mailedCode: false })
    const who = await withoutPassword(host, ['google', 'github'])
    const { oauthIdentities } = storedIn(host, 'operator')
    const [one] = await oauthIdentities.find({ userId: who.id, provider: 'google' }, { limit: 1 })
    await oauthIdentities.update(one?.id ?? '', { removingBy: null }, { removingBy: 'crashed' })
    expect((await host.signIn('operator', 'google', { subject: '99' })).status).toBe(302)
    // It does not count as one that stays.
    expectProblem(await unlink(host, who, 'github'), 409, 'last_login_method')
    expect((await unlink(host, who, 'google')).status).toBe(204)
    expectProblem(await unlink(host, who, 'github'), 409, 'last_login_method')
  })
})

describe('the owner', () => {
  it.each([true, false])('is mailed of a link and its end, if so wished: %s', async (wished) => {
    const host = await oauthHost({ settings: { notifySecurityChanges: wished } })
    const who = await signedInPerson(host, 'operator')
    await link(host, who, 'google', atGoogle)
    await unlink(host, who, 'google', { currentPassword: who.password })
    await host.auth.close()
    const mails = host.mailer.sent.filter(({ template }) => template === 'identityChanged')
    const at = host.clock.now()
    const expected = ['linked', 'unlinked'].map((change) => ({
      to: who.email,
      data: { at, provider: 'google', change },
    }))
    expect(mails).toMatchObject(wished ? expected : [])
    expect(mails).toHaveLength(wished ? 2 : 0)
  })
})

describe('an administrator', () => {
  const at = (userId: string, provider = 'google'): string =>
    `/v1/auth/operator/users/${userId}/oauth/${provider}`

  it('unlinks for others with the permission, and for nobody without', async () => {
    let granted = false
    const authorizer = {
      check: async ({ permission }: { readonly permission: string }) =>
        permission !== 'system.users.oauth_unlink' || granted,
    }
    const host = await oauthHost({ authorizer })
    const [admin, who] = [
      await signedInPerson(host, 'operator'),
      await signedInPerson(host, 'operator'),
    ]
    await link(host, who, 'google', atGoogle)
    const remove = (userId: string, provider?: string) =>
      host.send('DELETE', at(userId, provider), { bearer: admin.bearer })
    expectProblem(await remove(who.id), 403, 'permission_denied')
    expectProblem(await remove('nobody'), 403, 'permission_denied')
    granted = true
    expectProblem(await remove('nobody'), 404, 'user_not_found')
    expectProblem(await remove("' or 1=1 --"), 404, 'user_not_found')
    expectProblem(await remove('00000000-0000-7000-8000-000000000000'), 404, 'user_not_found')
    expectProblem(await remove(who.id, 'github'), 404, 'not_found')
    expectProblem(await remove(who.id, '__proto__'), 404, 'not_found')
    expect((await remove(who.id)).status).toBe(204)
    expectProblem(await remove(who.id), 404, 'not_found')
    expect(await identitiesOf(host, who)).toEqual([])
  })

  it('does not unlink their own account without proving that it is theirs', async () => {
    const host = await oauthHost({ authorizer: { check: async () => true } })
    const admin = await signedInPerson(host, 'operator')
    await link(host, admin, 'google', atGoogle)
    const reply = await host.send('DELETE', at(admin.id), { bearer: admin.bearer })
    expectProblem(reply, 403, 'permission_denied')
    expect(reply.json()['detail']).toContain('/oauth/{provider}/link')
    expect(await identitiesOf(host, admin)).toHaveLength(1)
  })

  it('takes nobody their last way in', async () => {
    const host = await oauthHost({ mailedCode: false, authorizer: { check: async () => true } })
    const admin = await signedInPerson(host, 'operator')
    const who = await withoutPassword(host, ['apple'])
    const reply = await host.send('DELETE', at(who.id, 'apple'), { bearer: admin.bearer })
    expectProblem(reply, 409, 'last_login_method')
  })

  it('of a service account is told that there is no such user', async () => {
    const host = await oauthHost({ authorizer: { check: async () => true } })
    const admin = await signedInPerson(host, 'operator')
    const who = await signedInPerson(host, 'operator')
    await storedIn(host, 'operator').users.update(who.id, { kind: '' }, { kind: 'service' })
    const reply = await host.send('DELETE', at(who.id), { bearer: admin.bearer })
    expectProblem(reply, 404, 'user_not_found')
  })
})

eachSurface.it('nothing of this is open to who is not signed in', async (surface) => {
  const host = await oauthHost()
  const reply = await host.send('POST', `/v1/auth/${surface}/oauth/google/link`, { body: {} })
  expect(reply.status).toBe(surface === 'operator' ? 401 : 404)
})
