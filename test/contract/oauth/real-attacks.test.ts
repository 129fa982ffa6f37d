import { describe, expect, it } from 'vitest'
import { type ProviderId, providerIds } from '../../../src/identity-providers/providers.js'
import type { InitialSettings } from '../../../src/settings/settings.js'
import type { Reply } from '../../support/hosts/http-client.js'
import { eventsOf, outcomeOf } from '../../support/hosts/open-host.js'
import { type Account, tenants } from '../../support/outside/provider-stub/account.js'
import { appleKeys } from '../../support/outside/provider-stub/credentials.js'
import { failures, forgeries, isForgery } from '../../support/outside/providers/token-replies.js'
import { goodPassword } from '../../support/people/people.js'
import { secretsOf } from '../../support/stores/secrets.js'
import { spyBackend } from '../../support/stores/spy-backend.js'
import { locationOf, memberOf, webTarget } from './oauth-host.js'
import { type RealOauthHost, realOauthHost } from './real-host.js'

const ada: Account = { subject: '1815', email: 'ada@example.org', verified: true, name: 'Ada L' }
const mallory: Account = { subject: '666', email: 'mallory@example.org', verified: true }

/** Of one that came to its end. */
const signIn = ['oauth_identities', 'refresh_tokens', 'sessions', 'users'].map((c) => `client_${c}`)

function expectFailed(reply: Reply, error: string): void {
  const to = `${webTarget.client}?error=${error}`
  expect([reply.status, locationOf(reply), reply.setCookies]).toEqual([303, to, []])
}

function expectNoFlow(reply: Reply): void {
  expect([reply.status, reply.code, reply.setCookies]).toEqual([400, 'invalid_oauth_state', []])
}

describe.each(providerIds)('%s over a network', (id) => {
  it('lets nobody in by an answer that another browser asked for', async () => {
    const host = await realOauthHost([id])
    const { authorizationUrl } = await host.depart('client', id)
    const brought = await host.agree(authorizationUrl, mallory)
    const { cookie } = await host.depart('client', id)
    expectNoFlow(await host.comeBack('client', id, brought, cookie))
    expectNoFlow(await host.comeBack('client', id, brought))
    expect(host.made()).toEqual([])
    expect(host.provider(id).tokenRequests).toEqual([])
  })

  it('redeems one of three answers that come at once, and none afterwards', async () => {
    const host = await realOauthHost([id])
    const { authorizationUrl, cookie } = await host.depart('client', id)
    const brought = await host.agree(authorizationUrl, ada)
    const come = () => host.comeBack('client', id, brought, cookie)
    const statuses = (await Promise.all([come(), come(), come()])).map(({ status }) => status)
    expect(statuses.sort()).toEqual([302, 400, 400])
    expectNoFlow(await come())
    expect(host.provider(id).tokenRequests).toHaveLength(1)
    expect(host.made()).toEqual(signIn)
  })

  it('gives nothing for a code that was caught from somebody else (RFC 9700 §4.5)', async () => {
    const host = await realOauthHost([id])
    const hers = await host.depart('client', id)
    const { code = '' } = await host.agree(hers.authorizationUrl, ada)
    const own = await host.depart('client', id)
    const brought = await host.agree(own.authorizationUrl, mallory)
    const reply = await host.comeBack('client', id, { ...brought, code }, own.cookie)
    expectFailed(reply, 'oauth_failed')
    expect(host.provider(id).tokenRequests.map((form) => form.get('code'))).toEqual([code])
    expect(host.made()).toEqual([])
  })

  it('is told apart from a person who says no', async () => {
    const host = await realOauthHost([id])
    const { authorizationUrl, cookie } = await host.depart('client', id)
    const brought = await host.cancel(authorizationUrl)
    expectFailed(await host.comeBack('client', id, brought, cookie), 'oauth_denied')
    expect(eventsOf(host, 'login.failed')).toMatchObject([{ reason: 'oauth_denied' }])
  })

  const ways = id === 'github' ? failures.filter((way) => way !== 'no ID token') : failures
  it.each(ways)('answers with %s: nothing is made, and no token told', async (how) => {
    const host = await realOauthHost([id], how === 'silence' ? { patience: 500 } : {})
    host.provider(id).misbehave(how)
    expectFailed(await host.signIn('client', id, mallory), 'oauth_failed')
    expect(host.made()).toEqual([])
    expect(host.provider(id).tokenRequests).toHaveLength(1)
    const given = host.provider(id).secrets()
    expect(given.length).toBeGreaterThan(1)
    expect(secretsOf(...given).foundIn(JSON.stringify([host.logger.lines, host.events]))).toEqual(
      [],
    )
  })

  it.each([
    ['unverified', { verified: false }, 'oauth_email_unverified'],
    ['verified', { verified: true }, 'account_exists_link_required'],
  ] as const)('opens no account by its %s address', async (_what, { verified }, error) => {
    const host = await realOauthHost([id])
    const { users } = host.auth.client
    const victim = { email: ada.email ?? '', name: 'ada', password: goodPassword }
    await users.create({ ...victim, emailVerified: true })
    expectFailed(await host.signIn('client', id, { ...mallory, ...victim, verified }), error)
    expect(host.made()).toEqual(['client_users'])
  })

  it('lets nobody in who was on the way when it was switched off', async () => {
    const host = await realOauthHost([id], { authorizer: { check: async () => true } })
    const { authorizationUrl, cookie } = await host.depart('client', id)
    const brought = await host.agree(authorizationUrl, mallory)
    await switchOff(host, id)
    expectFailed(await host.comeBack('client', id, brought, cookie), 'oauth_provider_disabled')
    expect(host.made().filter((name) => name.startsWith('client_'))).toEqual([])
    expect(host.provider(id).tokenRequests).toEqual([])
  })

  it('gives tokens that are kept nowhere', async () => {
    const spy = spyBackend()
    const host = await realOauthHost([id], { backend: spy.backend })
    const replies = [
      await host.signIn('client', id, ada),
      await host.signIn('operator', id, ada),
      await host.signInApp('client', id, ada),
    ]
    expect(replies.map(({ status }) => status)).toEqual([302, 302, 200])
    const secrets = secretsOf(...host.provider(id).secrets())
    expect(secrets.values.length).toBeGreaterThanOrEqual(6)
    const shown = replies.map(({ headers, setCookies, text }) => [[...headers], setCookies, text])
    const everything = [spy.written, host.logger.lines, host.events, host.mailer.sent, shown]
    expect(secrets.foundIn(JSON.stringify(everything))).toEqual([])
  })
})

async function switchOff(host: RealOauthHost, id: ProviderId): Promise<void> {
  const admin = { email: 'admin@example.org', password: goodPassword }
  await host.auth.operator.users.create({ ...admin, name: 'Root', emailVerified: true })
  const login = await host.send('POST', '/v1/auth/operator/login', { body: admin })
  const bearer = String(login.json()['accessToken'])
  const path = '/v1/admin/modules/auth/environments/production'
  const body = { config: { [`${id}ClientEnabled`]: 'false' } }
  const done = await host.send('PATCH', path, { bearer, body })
  expect(done.status, done.text).toBe(200)
}

describe.each(['google', 'microsoft', 'apple'] as const)('%s sends', (id) => {
  it.each(Object.keys(forgeries).filter(isForgery))('%s, and nobody is let in', async (forgery) => {
    const host = await realOauthHost([id])
    host.provider(id).misbehave(forgery)
    expectFailed(await host.signIn('client', id, mallory), 'oauth_failed')
    expect(host.made()).toEqual([])
    expect(host.provider(id).tokenRequests).toHaveLength(1)
  })
})

describe('a host that is not what it is registered as', () => {
  const wrong: readonly (readonly [string, ProviderId, InitialSettings])[] = [
    ['a made-up secret', 'google', { googleClientSecret: 'made-up' }],
    ['a made-up secret', 'microsoft', { microsoftClientSecret: 'made-up' }],
    ['another team', 'apple', { appleTeamId: 'TEAM999999' }],
    ['another key', 'apple', { appleKeyId: 'KEYID00000' }],
    ['a made-up secret', 'github', { githubClientSecret: 'made-up' }],
  ]
  it.each(wrong)('with %s gets nothing from %s', async (_what, id, settings) => {
    const host = await realOauthHost([id], { settings })
    expectFailed(await host.signIn('client', id, mallory), 'oauth_failed')
    expect(host.made()).toEqual([])
  })

  it('gets nothing from apple with a key that is not its own', async () => {
    const { privatePem } = await appleKeys()
    const host = await realOauthHost(['apple'], { settings: { applePrivateKey: privatePem } })
    expectFailed(await host.signIn('client', 'apple', mallory), 'oauth_failed')
    expect(host.made()).toEqual([])
  })
})

const pairs = providerIds.flatMap((id) =>
  providerIds.filter((other) => other !== id).map((other) => ({ id, other })),
)

describe.each(pairs)('$other in place of $id (RFC 9700 §4.4)', ({ id, other }) => {
  it('its answer is not taken at the other’s callback', async () => {
    const host = await realOauthHost([id, other])
    const { authorizationUrl, cookie } = await host.depart('client', other)
    const brought = await host.agree(authorizationUrl, mallory)
    const { cookie: own } = await host.depart('client', id)
    const [name = ''] = own.split('=')
    const moved = `${name}=${cookie.slice(cookie.indexOf('=') + 1)}`
    for (const shown of [cookie, own, moved]) {
      expectNoFlow(await host.comeBack('client', id, brought, shown))
    }
    expect([host.provider(id), host.provider(other)].map((p) => p.tokenRequests)).toEqual([[], []])
    expect(host.made()).toEqual([])
  })

  it('its code opens nothing in a flow to the other, and goes nowhere under its own issuer', async () => {
    const host = await realOauthHost([id, other])
    const theirs = await host.depart('client', other)
    const { code = '', iss } = await host.agree(theirs.authorizationUrl, mallory)
    const { authorizationUrl, cookie } = await host.depart('client', id)
    const { state = '' } = await host.cancel(authorizationUrl)
    const named = iss === undefined ? {} : { iss }
    const reply = await host.comeBack('client', id, { code, state, ...named }, cookie)
    expectFailed(reply, 'oauth_failed')
    expect(host.provider(id).tokenRequests).toHaveLength(iss === undefined ? 1 : 0)
    expect(host.made()).toEqual([])
  })
})

describe('microsoft lets every tenant write any address', () => {
  it('nOAuth: another tenant with the victim’s address and subject is somebody else', async () => {
    const host = await realOauthHost(['microsoft'])
    const arrive = (account: Account) => host.signIn('client', 'microsoft', account)
    const hers = await arrive({ ...ada, tenant: tenants.acme })
    expect(locationOf(hers)).toBe(webTarget.client)
    const { verified: _verified, ...unvouched } = ada
    expectFailed(await arrive({ ...unvouched, tenant: tenants.evil }), 'oauth_email_unverified')
    const vouched = await arrive({ ...ada, tenant: tenants.evil })
    expectFailed(vouched, 'account_exists_link_required')
    expect(host.made()).toEqual(signIn)
    // Her own tenant still opens her account, whatever her address is by now.
    const later = await arrive({ ...unvouched, email: 'x@example.net', tenant: tenants.acme })
    expect([locationOf(later), memberOf(later, 'error')]).toEqual([webTarget.client, ''])
  })

  it('the tenant of the setting lets nobody of another one in', async () => {
    const settings = { microsoftTenant: tenants.acme }
    const host = await realOauthHost(['microsoft'], { settings })
    const arrive = (tenant: string) => host.signIn('client', 'microsoft', { ...mallory, tenant })
    expectFailed(await arrive(tenants.evil), 'oauth_failed')
    expectFailed(await arrive(tenants.consumers), 'oauth_failed')
    expect(host.made()).toEqual([])
    expect(locationOf(await arrive(tenants.acme))).toBe(webTarget.client)
  })

  it('a tenant in the environment that cannot be stored lets nobody in, where the default lets in all', async () => {
    const env = { MICROSOFT_TENANT_ID: 'contoso.onmicrosoft.com' }
    const host = await realOauthHost(['microsoft'], { env })
    const started = await host.startWeb('client', 'microsoft')
    expect([started.status, outcomeOf(started)]).toEqual([403, '403 oauth_provider_disabled'])
  })
})
