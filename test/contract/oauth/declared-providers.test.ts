import { decodeJwt } from 'jose'
import { describe, expect, it, onTestFinished } from 'vitest'
import { oidc } from '../../../src/identity-providers/index.js'
import type { AuthOptions } from '../../../src/index.js'
import { systemFetcher } from '../../../src/system/system-fetcher.js'
import { eventsOf, openHost, storedIn } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import type { Account } from '../../support/outside/provider-stub/account.js'
import { registered } from '../../support/outside/provider-stub/credentials.js'
import { googleStandIn } from '../../support/outside/providers/openid-provider.js'
import { paperBrowser } from '../../support/outside/providers/paper-browser.js'
import { signingKeys } from '../../support/outside/providers/signing-keys.js'
import { forgeries } from '../../support/outside/providers/token-replies.js'
import { person } from '../../support/people/people.js'
import { browserHost } from '../http/browser-host.js'
import { locationOf, memberOf, oauthSteps, targets, webTarget } from './oauth-host.js'

const { clientId, clientSecret } = registered.google
const ada: Account = { subject: '1815', email: 'ada@acme.example', verified: true, name: 'Ada' }

interface Given {
  readonly authoritativeFor?: readonly string[]
  readonly surfaces?: readonly ('operator' | 'client')[]
  readonly settings?: AuthOptions['settings']
  /** Changes what the issuer says of itself. */
  readonly document?: (document: Record<string, unknown>) => unknown
  /** Changes what the UserInfo endpoint tells. */
  readonly userInfo?: (told: Record<string, unknown>) => unknown
  /** Change what it answers at other paths. */
  readonly replies?: Readonly<Record<string, (body: Record<string, unknown>) => unknown>>
}

/** `oidc-provider` as the issuer of a company, and a host that declares it. */
async function acmeHost(given: Given = {}) {
  const accounts: Account[] = []
  const asked: string[] = []
  const opened: Awaited<ReturnType<typeof googleStandIn>>[] = []
  const host = await browserHost(async (url) => {
    const redirectUris = ['operator', 'client'].map(
      (s) => `${url}/v1/auth/${s}/oauth/acme/callback`,
    )
    const standIn = await googleStandIn({ redirectUris, accounts })
    onTestFinished(() => standIn.close())
    opened.push(standIn)
    const acme = {
      ...{ id: 'acme', label: 'Acme', issuer: standIn.url, clientId, clientSecret },
      surfaces: given.surfaces ?? (['operator', 'client'] as const),
      ...(given.authoritativeFor && { authoritativeFor: given.authoritativeFor }),
    }
    const { rateLimits } = withoutLimits.surfaces.client
    const surface = { baseUrl: url, rateLimits }
    return {
      surfaces: { operator: surface, client: surface },
      providers: [oidc(acme)],
      oauth: { allowInsecureLoopback: true },
      settings: { oauthRedirectTargets: targets, ...given.settings },
      fetcher: {
        async fetch(request) {
          asked.push(new URL(request.url).pathname)
          const reply = await systemFetcher.fetch(request)
          const changes = {
            ...given.replies,
            '/.well-known/openid-configuration': given.document,
            '/me': given.userInfo,
          }
          const change = Object(changes)[new URL(request.url).pathname]
          return change
            ? { ...reply, body: JSON.stringify(await change(JSON.parse(reply.body))) }
            : reply
        },
      },
    }
  })
  const [acme] = opened
  if (acme === undefined) throw new Error('no issuer')
  const agree = async (authorizationUrl: string, account: Account) => {
    if (!accounts.includes(account)) accounts.push(account)
    const callback = `${host.url}/v1/auth/`
    const next = await paperBrowser().signIn(authorizationUrl, account.subject, callback)
    return Object.fromEntries(new URL(next.url).searchParams)
  }
  // The steps take the id into the path, as it is.
  return { ...host, ...oauthSteps(host, { agree }), acme, agree, asked }
}

const id = 'acme' as 'google'

describe('a provider that the host declares', () => {
  it.each(['operator', 'client'] as const)(
    'signs people up and in, in browsers and apps [%s]',
    async (surface) => {
      const host = await acmeHost()
      const listed = await host.send('GET', `/v1/auth/${surface}/oauth/providers`)
      expect(listed.json()).toEqual({ providers: [{ id: 'acme', name: 'Acme' }] })
      const login = await host.signIn(surface, id, ada)
      expect(locationOf(login)).toBe(webTarget[surface])
      const app = await host.signInApp(surface, id, ada)
      expect(app.json()).toMatchObject({ status: 'authenticated', user: { email: ada.email } })
      const userId = Object(app.json()['user']).id
      const { subject } = ada
      expect(await host.auth[surface].identities.list(userId)).toMatchObject([
        { provider: 'acme', issuer: host.acme.url, subject },
      ])
      // Its document is read once an hour.
      expect(host.asked.filter((path) => path.includes('.well-known'))).toHaveLength(1)
      expect(eventsOf(host, 'login.succeeded')).toMatchObject([
        { method: 'acme' },
        { method: 'acme' },
      ])
    },
  )

  it('opens accounts that were imported with their identity there', async () => {
    const host = await acmeHost()
    const identity = { provider: 'acme', issuer: host.acme.url, subject: ada.subject }
    const users = [
      { email: 'countess@example.org', emailVerified: true, identities: [identity] },
      {
        email: 'a@example.org',
        emailVerified: true,
        identities: [{ ...identity, issuer: 'https://x' }],
      },
      {
        email: 'b@example.org',
        emailVerified: true,
        identities: [{ ...identity, provider: 'other' }],
      },
    ]
    const { results } = await host.auth.client.users.import({ users })
    expect(results.map(({ outcome }) => outcome)).toEqual(['created', 'refused', 'refused'])
    const app = await host.signInApp('client', id, ada)
    expect(app.json()).toMatchObject({ user: { email: 'countess@example.org' } })
  })

  it('opens nothing by an identity of an earlier issuer, which the host may remove', async () => {
    const host = await acmeHost({ authoritativeFor: ['acme.example'] })
    const { users, identities } = host.auth.client
    const earlier = { provider: 'acme', issuer: 'https://before.example', subject: '7' }
    const { id: userId } = await users.create({ email: ada.email ?? '', emailVerified: true })
    const { oauthIdentities } = storedIn(host, 'client')
    const rest = { linkedAt: 0, removingBy: null, expiresAt: null }
    await oauthIdentities.insert({ id: 'earlier', userId, ...earlier, ...rest })
    const before = await host.signIn('client', id, ada)
    expect(memberOf(before, 'error')).toBe('account_exists_link_required')
    await identities.remove(userId, 'earlier')
    expect(await identities.list(userId)).toEqual([])
  })

  it('is not there on a surface that it is not declared for', async () => {
    const host = await acmeHost({ surfaces: ['operator'] })
    const listed = await host.send('GET', '/v1/auth/client/oauth/providers')
    expect(listed.json()).toEqual({ providers: [] })
    expect((await host.startApp('client', id)).code).toBe('oauth_provider_disabled')
    expect((await host.startApp('client', 'other' as 'google')).code).toBe('not_found')
  })

  it('counts as a way in, so that passwords may be switched off where it is', async () => {
    const host = await acmeHost({ surfaces: ['client'] })
    const change = (key: string) => host.auth.config.change('auth', { config: { [key]: 'false' } })
    await change('passwordLoginClientEnabled')
    await expect(change('passwordLoginOperatorEnabled')).rejects.toMatchObject({
      code: 'auth.no_login_method',
    })
  })

  it('opens the account of an address only where it is the directory of its domain', async () => {
    for (const [authoritativeFor, opens] of [
      [[], false],
      [['acme.example'], true],
      [['other.example'], false],
    ] as const) {
      const host = await acmeHost({ authoritativeFor })
      const { users } = storedIn(host, 'client')
      const who = await person(host, 'client')
      // As a stranger leaves one who registered the address first.
      const planted = { email: ada.email ?? '', emailVerifiedAt: null, selfRegistered: true }
      await users.update(who.id, { id: who.id }, planted)
      const back = await host.signIn('client', id, ada)
      expect(memberOf(back, 'error')).toBe(opens ? '' : 'account_exists_link_required')
      expect((await users.get(who.id))?.passwordHash === null).toBe(opens)
    }
  })

  it('believes email_verified only where it is true', async () => {
    for (const verified of [undefined, false, 'true', 1]) {
      const host = await acmeHost()
      const account = { ...ada, verified: verified as boolean }
      const back = await host.signIn('client', id, account)
      const isDefault = verified === undefined
      expect(memberOf(back, 'error')).toBe(isDefault ? '' : 'oauth_email_unverified')
    }
  })

  it('asks for an address that the ID token leaves out, and believes it of the same person', async () => {
    const { email: _, ...unnamed } = ada
    const told = { email: 'ada@acme.example', email_verified: true }
    const host = await acmeHost({ userInfo: (one) => ({ ...one, ...told }) })
    const app = await host.signInApp('client', id, unnamed)
    expect(app.json()).toMatchObject({ user: { email: told.email, name: 'Ada' } })
    const evil = await acmeHost({ userInfo: (one) => ({ ...one, ...told, sub: 'another' }) })
    expect(memberOf(await evil.signIn('client', id, unnamed), 'error')).toBe('oauth_failed')
    // What is signed is not asked for again.
    const plain = await acmeHost()
    await plain.signIn('client', id, ada)
    expect(plain.asked).not.toContain('/me')
  })

  it.each(Object.keys(forgeries) as (keyof typeof forgeries)[])('refuses %s', async (forgery) => {
    const host = await acmeHost()
    host.acme.misbehave(forgery)
    const back = await host.signIn('client', id, ada)
    expect(memberOf(back, 'error')).toBe('oauth_failed')
    expect(eventsOf(host, 'login.succeeded')).toEqual([])
  })

  it('follows the keys of its issuer, and believes the retired one no more', async () => {
    const [next, jwks] = [await signingKeys(), '/oauth2/v3/certs']
    let rotated = { signs: false, isPublished: false }
    const host = await acmeHost({
      replies: {
        '/token': async ({ id_token, ...rest }) => {
          const signed = rotated.signs ? await next.sign(decodeJwt(String(id_token))) : id_token
          return { ...rest, id_token: signed }
        },
        [jwks]: (old) => (rotated.isPublished ? { keys: [next.publicJwk] } : old),
      },
    })
    const signIn = async () => {
      await host.clock.advance(60_000)
      return memberOf(await host.signIn('client', id, ada), 'error')
    }
    const reads = () => host.asked.filter((path) => path === jwks).length
    expect([await signIn(), await signIn(), reads()]).toEqual(['', '', 1])
    rotated = { signs: true, isPublished: false }
    expect(await signIn()).toBe('oauth_failed')
    rotated = { signs: true, isPublished: true }
    expect([await signIn(), reads()]).toEqual(['', 3])
    rotated = { signs: false, isPublished: true }
    expect(await signIn()).toBe('oauth_failed')
  })

  it.each([
    ['another iss', { iss: 'https://evil.example' }],
    ['no iss, though it always names one (RFC 9207)', { iss: undefined }],
  ])('refuses an answer with %s', async (_what, change) => {
    const document = (one: object) => ({
      ...one,
      authorization_response_iss_parameter_supported: true,
    })
    const host = await acmeHost({ document })
    const { authorizationUrl, cookie } = await host.depart('client', id)
    const { iss: _, ...brought } = await host.agree(authorizationUrl, ada)
    const parameters = change.iss === undefined ? brought : { ...brought, iss: change.iss }
    const back = await host.comeBack('client', id, parameters, cookie)
    expect(memberOf(back, 'error')).toBe('oauth_failed')
  })

  it('takes an answer once, and to the browser that began alone', async () => {
    const host = await acmeHost()
    const { authorizationUrl, cookie } = await host.depart('client', id)
    const brought = await host.agree(authorizationUrl, ada)
    const other = await host.depart('client', id)
    expect((await host.comeBack('client', id, brought, other.cookie)).code).toBe(
      'invalid_oauth_state',
    )
    expect((await host.comeBack('client', 'google', brought, cookie)).code).toBe(
      'invalid_oauth_state',
    )
    expect((await host.comeBack('operator', id, brought, cookie)).code).toBe('invalid_oauth_state')
    expect(locationOf(await host.comeBack('client', id, brought, cookie))).toBe(webTarget.client)
    const again = await host.comeBack('client', id, brought, cookie)
    expect(again.setCookies.filter((one) => one.includes('_refresh='))).toEqual([])
  })

  it.each<[string, (document: Record<string, unknown>) => unknown]>([
    ['is of another issuer', (one) => ({ ...one, issuer: 'https://evil.example' })],
    [
      'has a template for an issuer',
      (one) => ({ ...one, issuer: 'https://login.example/{tenantid}' }),
    ],
    ['leads to http elsewhere', (one) => ({ ...one, token_endpoint: 'http://evil.example/token' })],
    ['leads to no address', (one) => ({ ...one, authorization_endpoint: 'javascript:alert(1)' })],
    ['offers no code', (one) => ({ ...one, response_types_supported: ['id_token'] })],
    ['offers no S256', (one) => ({ ...one, code_challenge_methods_supported: ['plain'] })],
    ['offers no RS256', (one) => ({ ...one, id_token_signing_alg_values_supported: ['HS256'] })],
    ['is no object', () => null],
  ])(
    'is out of order, and nobody leaves for it, where its document %s',
    async (_what, document) => {
      const host = await acmeHost({ document })
      const start = await host.startApp('client', id)
      expect([start.status, start.code]).toEqual([503, 'service_unavailable'])
      const lines = host.logger.lines.map(({ message }) => message)
      expect(lines).toContain('a provider could not be discovered')
    },
  )
})

describe('the declaration of a provider', () => {
  const good = {
    ...{ id: 'acme', label: 'Acme', issuer: 'https://id.acme.example', clientId, clientSecret },
    surfaces: ['client'] as const,
  }
  it.each<[string, object, string]>([
    ['the id of one of the four', { id: 'google' }, 'providers.0.id'],
    ['the name of a method', { id: 'password' }, 'providers.0.id'],
    ['an id in capitals', { id: 'Acme' }, 'providers.0.id'],
    [
      'an issuer with a template',
      { issuer: 'https://login.example/{tenantid}/v2.0' },
      'providers.0.issuer',
    ],
    ['http', { issuer: 'http://localhost:1' }, 'providers.0.issuer'],
    ['a query', { issuer: 'https://id.acme.example/?a' }, 'providers.0.issuer'],
    [
      'the address of its document',
      { issuer: 'https://id.acme.example/.well-known/openid-configuration' },
      'providers.0.issuer',
    ],
    ['no secret', { clientSecret: '' }, 'providers.0.clientSecret'],
    ['no surface', { surfaces: [] }, 'providers.0.surfaces'],
    [
      'a domain that is none',
      { authoritativeFor: ['Acme.Example'] },
      'providers.0.authoritativeFor.0',
    ],
    ['a member that there is not', { tenant: 'x' }, 'providers.0.tenant'],
  ])('is refused with %s', async (_what, change, option) => {
    const opening = openHost({ providers: [oidc({ ...good, ...change })] })
    await expect(opening).rejects.toMatchObject({ option })
  })

  it('is refused where two have one id', async () => {
    const opening = openHost({ providers: [oidc(good), oidc(good)] })
    await expect(opening).rejects.toMatchObject({ option: 'providers.1.id' })
  })
})
