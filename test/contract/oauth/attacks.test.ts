import { describe, expect, it } from 'vitest'
import { type ProviderId, providerIds } from '../../../src/identity-providers/providers.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { storedIn } from '../../support/hosts/open-host.js'
import type { Account } from '../../support/outside/provider-stub/account.js'
import type { Failure, Forgery } from '../../support/outside/provider-stub/provider-stub.js'
import {
  appTarget,
  changeSettings,
  locationOf,
  memberOf,
  type OauthHost,
  oauthHost,
  webTarget,
} from './oauth-host.js'

const mallory: Account = { subject: '666', email: 'mallory@example.org', verified: true }
const minute = 60_000

/** Nobody was let in, and nothing was made. */
function expectNobody(host: OauthHost): void {
  expect(host.made()).toEqual([])
}

async function expectRefused(
  host: OauthHost,
  provider: ProviderId,
  parameters: Readonly<Record<string, string>>,
  cookie?: string,
): Promise<void> {
  const reply = await host.comeBack('client', provider, parameters, cookie)
  expectProblem(reply, 400, 'invalid_oauth_state')
  expect(reply.setCookies).toEqual([])
}

describe.each(providerIds)('an answer for %s that was not asked for here', (provider) => {
  it('opens nothing in another browser, or in none, and still does in its own', async () => {
    const host = await oauthHost()
    const { authorizationUrl, cookie } = await host.depart('client', provider)
    const brought = host.stub.agree(authorizationUrl, mallory)
    const other = await host.depart('client', provider)
    await expectRefused(host, provider, brought, other.cookie)
    await expectRefused(host, provider, brought)
    await expectRefused(host, provider, brought, `${cookie}; ${cookie}`)
    await expectRefused(host, provider, brought, `${cookie.split('=')[0]}=`)
    expectNobody(host)
    const own = await host.comeBack('client', provider, brought, cookie)
    expect(locationOf(own)).toBe(webTarget.client)
    expect(host.made()).toEqual([
      'client_oauth_identities',
      'client_refresh_tokens',
      'client_sessions',
      'client_users',
    ])
  })

  it('opens nothing a second time, and the first session goes on', async () => {
    const host = await oauthHost()
    const { authorizationUrl, cookie } = await host.depart('client', provider)
    const brought = host.stub.agree(authorizationUrl, mallory)
    const both = await Promise.all(
      [1, 2, 3].map(() => host.comeBack('client', provider, brought, cookie)),
    )
    expect(both.map(({ status }) => status).sort()).toEqual([302, 400, 400])
    await expectRefused(host, provider, brought, cookie)
    const families = await storedIn(host, 'client').families.due(host.clock.now() + 1e12, 10)
    expect(families.map(({ revokedAt }) => revokedAt)).toEqual([null])
  })

  it('opens nothing after ten minutes', async () => {
    const host = await oauthHost()
    const { authorizationUrl, cookie } = await host.depart('client', provider)
    await host.clock.advance(10 * minute)
    await expectRefused(host, provider, host.stub.agree(authorizationUrl, mallory), cookie)
  })

  it('opens nothing at another provider’s callback, nor on the other surface', async () => {
    const host = await oauthHost()
    const { authorizationUrl, cookie } = await host.depart('client', provider)
    const brought = host.stub.agree(authorizationUrl, mallory)
    for (const other of providerIds.filter((id) => id !== provider)) {
      const { cookie: others } = await host.depart('client', other)
      await expectRefused(host, other, brought, others)
      const value = cookie.slice(cookie.indexOf('=') + 1)
      await expectRefused(host, other, brought, `${others.split('=')[0]}=${value}`)
    }
    const renamed = cookie.replace('cl_', 'op_')
    const elsewhere = await host.comeBack('operator', provider, brought, renamed)
    expectProblem(elsewhere, 400, 'invalid_oauth_state')
    expectNobody(host)
    expect((await host.comeBack('client', provider, brought, cookie)).status).toBe(302)
  })

  it.each([
    ['no state', { state: '' }],
    ['a made-up state', { state: 'x'.repeat(43) }],
    ['a prototype’s name for a state', { state: '__proto__' }],
  ])('opens nothing with %s', async (_what, edit) => {
    const host = await oauthHost()
    const { authorizationUrl, cookie } = await host.depart('client', provider)
    const brought = { ...host.stub.agree(authorizationUrl, mallory), ...edit }
    await expectRefused(host, provider, brought, cookie)
  })

  const edits: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ['somebody else’s code', { code: 'code-injected' }],
    ['no code', { code: '' }],
    ['the issuer of another provider', { iss: 'https://evil.example' }],
    ['tokens of the implicit grant', { id_token: 'eyJ.eyJ.x' }],
  ]
  it.each(edits)('is a failed login with %s, and cannot be used again', async (_what, edit) => {
    const host = await oauthHost()
    const { authorizationUrl, cookie } = await host.depart('client', provider)
    const brought = { ...host.stub.agree(authorizationUrl, mallory), ...edit }
    const reply = await host.comeBack('client', provider, brought, cookie)
    expect(locationOf(reply)).toBe(`${webTarget.client}?error=oauth_failed`)
    expect(reply.setCookies).toEqual([])
    expectNobody(host)
    await expectRefused(host, provider, brought, cookie)
  })

  it('another person’s code in one’s own flow opens nothing: the verifier is not theirs', async () => {
    const host = await oauthHost()
    const theirs = await host.depart('client', provider)
    const { code = '' } = host.stub.agree(theirs.authorizationUrl, mallory)
    const own = await host.depart('client', provider)
    const brought = { ...host.stub.agree(own.authorizationUrl, mallory), code }
    const reply = await host.comeBack('client', provider, brought, own.cookie)
    expect(memberOf(reply, 'error')).toBe('oauth_failed')
    expectNobody(host)
  })

  const failures: readonly Failure[] = [
    'refused',
    'error500',
    'error200',
    'huge',
    'redirect',
    'html',
  ]
  it.each(failures)('a provider that fails as "%s" signs nobody in or up', async (failure) => {
    const host = await oauthHost()
    const { authorizationUrl, cookie } = await host.depart('client', provider)
    const brought = host.stub.agree(authorizationUrl, mallory)
    host.stub.fail(failure)
    const reply = await host.comeBack('client', provider, brought, cookie)
    expect(locationOf(reply)).toBe(`${webTarget.client}?error=oauth_failed`)
    expectNobody(host)
    const told = JSON.stringify([host.logger.lines, host.events])
    for (const token of host.stub.tokens) expect(told).not.toContain(token)
    host.stub.fail(null)
    const again = await host.signIn('client', provider, mallory)
    expect(locationOf(again)).toBe(webTarget.client)
  })

  eachSurface.it('a provider switched off meanwhile lets nobody in', async (s) => {
    const key =
      s === 'operator'
        ? (`${provider}OperatorEnabled` as const)
        : (`${provider}ClientEnabled` as const)
    const administrator = { check: async () => true }
    const host = await oauthHost({ authorizer: administrator })
    const flow = await host.depart(s, provider)
    const url = await host.departFromApp(s, provider, { appState: 'x y&z' })
    const before = await host.departFromApp(s, provider)
    const back = await host.comeBack(
      s,
      provider,
      host.stub.agree(before, { subject: '7', email: 'a@example.org', verified: true }),
    )
    await changeSettings(host, { [key]: 'false' })
    const reply = await host.comeBack(
      s,
      provider,
      host.stub.agree(flow.authorizationUrl, mallory),
      flow.cookie,
    )
    expect([memberOf(reply, 'error'), reply.setCookies]).toEqual(['oauth_provider_disabled', []])
    const app = await host.comeBack(s, provider, host.stub.agree(url, mallory))
    expect([memberOf(app, 'error'), memberOf(app, 'state')]).toEqual([
      'oauth_provider_disabled',
      'x y&z',
    ])
    expectProblem(await host.exchange(s, memberOf(back, 'code')), 403, 'oauth_provider_disabled')
    expectProblem(await host.startWeb(s, provider), 403, 'oauth_provider_disabled')
    expectProblem(await host.startApp(s, provider), 403, 'oauth_provider_disabled')
    const other = s === 'operator' ? 'client' : 'operator'
    expect((await host.startWeb(other, provider)).status).toBe(302)
  })
})

describe.each(['google', 'microsoft', 'apple'] as const)('a forged ID token of %s', (provider) => {
  const seconds = Date.UTC(2026, 0, 1) / 1000
  const forgeries: readonly (readonly [string, Forgery])[] = [
    ['iss', { claims: { iss: 'https://evil.example' } }],
    ['aud', { claims: { aud: 'another-client' } }],
    ['nonce', { claims: { nonce: 'another' } }],
    ['azp', { claims: { azp: 'another-client' } }],
    ['exp', { claims: { exp: seconds - 120, iat: seconds - 240 } }],
    ['alg none', { signature: 'none' }],
    ['alg HS256', { signature: 'hs256' }],
    ['a stranger’s key', { signature: 'foreign' }],
  ]
  it.each(forgeries)('(%s) is a failed login', async (_what, forgery) => {
    const host = await oauthHost()
    host.stub.forge(forgery)
    const reply = await host.signIn('client', provider, mallory)
    expect(locationOf(reply)).toBe(`${webTarget.client}?error=oauth_failed`)
    expectNobody(host)
  })
})

describe('service accounts', () => {
  it('are let in by no provider, in no flow, whatever the database says', async () => {
    const host = await oauthHost()
    const { users } = storedIn(host, 'operator')
    await host.signIn('operator', 'google', mallory)
    const [user] = await users.find({ email: 'mallory@example.org' }, { limit: 1 })
    // Planted: no code of the library’s makes it so.
    await users.update(user?.id ?? '', { kind: '' }, { kind: 'service' })
    const web = await host.signIn('operator', 'google', mallory)
    expect([memberOf(web, 'error'), web.setCookies]).toEqual(['oauth_failed', []])
    const url = await host.departFromApp('operator', 'google')
    const app = await host.comeBack('operator', 'google', host.stub.agree(url, mallory))
    expect(locationOf(app)).toBe(`${appTarget.operator}?error=oauth_failed`)
    const byAddress = await host.signIn('operator', 'google', { ...mallory, subject: '667' })
    expect(memberOf(byAddress, 'error')).toBe('account_exists_link_required')
  })
})
