import { describe, expect, it } from 'vitest'
import { expectProblem } from '../../support/hosts/expectations.js'
import { eachFramework, eachSurface } from '../../support/hosts/matrix.js'
import { surfaces } from '../../support/hosts/open-host.js'
import { rawClient } from '../../support/hosts/raw-client.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import {
  appTarget,
  flowCookieOf,
  locationOf,
  memberOf,
  oauthHost,
  webTarget,
} from './oauth-host.js'

const ada = { subject: '1815', email: 'ada@example.org', verified: true }
const nameOf = (cookie: string): string => cookie.slice(0, cookie.indexOf('='))

eachSurface.describe('redirect targets', (surface) => {
  it('a target that is taken off the list meanwhile is not returned to', async () => {
    const host = await oauthHost({ authorizer: { check: async () => true } })
    const { authorizationUrl, cookie } = await host.depart(surface, 'google')
    const account = { subject: '9', email: 'late@example.org', verified: true }
    const brought = host.stub.agree(authorizationUrl, account)
    const admin = { email: 'admin@example.org', password: 'correct horse battery staple' }
    await host.auth.operator.users.create({ ...admin, emailVerified: true })
    const login = await host.send('POST', '/v1/auth/operator/login', { body: admin })
    const bearer = String(login.json()['accessToken'])
    const environment = '/v1/admin/modules/auth/environments/production'
    const { revision } = (await host.send('GET', environment, { bearer })).json()
    const recordLists = [{ field: 'oauthRedirectTargets', create: [], remove: [`${surface}-web`] }]
    const done = await host.send('PATCH', environment, { bearer, body: { recordLists, revision } })
    expect(done.status, done.text).toBe(200)
    const reply = await host.comeBack(surface, 'google', brought, cookie)
    expectProblem(reply, 400, 'redirect_not_allowed')
    expect(reply.setCookies).toEqual([])
    expect(await host.auth[surface].users.findByEmail('late@example.org')).toBeNull()
  })
})

describe('where a flow begins', () => {
  const start = (provider = 'google', query = ''): string =>
    `/v1/auth/client/oauth/${provider}/start?redirectUri=${encodeURIComponent(webTarget.client)}${query}`

  it('a query without what it needs is refused by the name of that', async () => {
    const host = await oauthHost()
    const reply = await host.send('GET', '/v1/auth/client/oauth/google/start')
    expectProblem(reply, 400, 'invalid_request')
    expect(reply.json()['detail']).toBe(
      'The query is not of the expected form: "redirectUri" must be a text.',
    )
  })

  it('goes to one of four providers; any other is 404, in whatever way', async () => {
    const host = await oauthHost()
    const four = ['google', 'microsoft', 'apple', 'github'] as const
    const listed = (await host.send('GET', '/v1/auth/client/oauth/providers')).json()
    expect(listed['providers']).toEqual(four.map((id) => expect.objectContaining({ id })))
    for (const id of four) expect((await host.startWeb('client', id)).status, id).toBe(302)
    const others = ['facebook', '__proto__', 'constructor', 'Google', 'google%00', '%67oogle']
    for (const provider of others) {
      expectProblem(await host.send('GET', start(provider)), 404, 'not_found')
      const callback = `/v1/auth/client/oauth/${provider}/callback`
      expectProblem(await host.send('GET', `${callback}?state=x&code=y`), 404, 'not_found')
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      const form = { body: 'state=x&code=y', headers }
      expectProblem(await host.send('POST', callback, form), 404, 'not_found')
      const app = {
        redirectUri: appTarget.client,
        codeChallenge: 'x'.repeat(43),
        codeChallengeMethod: 'S256',
      }
      const path = `/v1/auth/client/mobile/oauth/${provider}/start`
      expectProblem(await host.send('POST', path, { body: app }), 404, 'not_found')
    }
  })

  it.each([
    ['nothing', ''],
    ['an empty target', '?redirectUri='],
    ['two targets', `?redirectUri=${encodeURIComponent(webTarget.client)}&redirectUri=x`],
  ])('with %s is 400', async (_what, query) => {
    const host = await oauthHost()
    const reply = await host.send('GET', `/v1/auth/client/oauth/google/start${query}`)
    expectProblem(reply, 400, 'invalid_request')
  })

  it('may be a link from anywhere, and no request of another site’s scripts or frames', async () => {
    const host = await oauthHost()
    const raw = rawClient(host.url)
    const from = (headers: Readonly<Record<string, string>>) => raw('GET', start(), { headers })
    const site = { 'sec-fetch-site': 'cross-site' }
    const link = { ...site, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
    expect((await from(link)).status).toBe(302)
    expect((await from({})).status).toBe(302)
    expect((await from({ 'sec-fetch-site': 'none' })).status).toBe(302)
    for (const dest of ['image', 'empty']) {
      const reply = await from({ ...site, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': dest })
      expectProblem(reply, 403, 'csrf_rejected')
    }
    for (const dest of ['iframe', 'object']) {
      const reply = await from({ ...site, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': dest })
      expect([reply.status, memberOf(reply, 'error')]).toEqual([303, 'csrf_rejected'])
      expect(reply.setCookies).toEqual([])
    }
    expectProblem(await from({ origin: 'https://evil.example' }), 403, 'csrf_rejected')
  })

  it('leaves a cookie of its own kind: Lax for a link back, None for a form', async () => {
    const host = await oauthHost({ settings: { cookieSameSite: 'strict' } })
    const [link] = (await host.startWeb('client', 'google')).setCookies
    expect(link).toMatch(
      /^__Host-cl_oauth_[\w-]{16}=[\w-]{43}; Max-Age=1200; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    )
    const [form] = (await host.startWeb('operator', 'apple')).setCookies
    expect(form).toMatch(
      /^__Host-op_oauth_form_[\w-]{16}=[\w-]{43}; Max-Age=1200; Path=\/; HttpOnly; SameSite=None; Secure$/,
    )
  })

  it('is shared with no other host, whatever the domain and the path of the session', async () => {
    const { operator, client } = withoutLimits.surfaces
    const wide = { ...client, cookieDomain: 'example.com', cookiePath: '/v1/auth' }
    const host = await oauthHost({ surfaces: { operator, client: wide } })
    for (const provider of ['google', 'apple'] as const) {
      const begun = await host.startWeb('client', provider)
      expect(begun.setCookies).toEqual([
        expect.stringMatching(
          /^__Host-cl_oauth(_form)?_[\w-]{16}=[\w-]{43}; Max-Age=1200; Path=\/; /,
        ),
      ])
      expect(begun.setCookies[0]).not.toMatch(/domain/i)
      const account = { ...ada, email: `${provider}@example.org` }
      const brought = host.stub.agree(locationOf(begun), account)
      const cookie = flowCookieOf(begun)
      // As a page of another host of the domain could plant it.
      const planted = cookie.replace('__Host-', '__Secure-')
      const refused = await host.comeBack('client', provider, brought, planted)
      expectProblem(refused, 400, 'invalid_oauth_state')
      const back = await host.comeBack('client', provider, brought, cookie)
      expect(locationOf(back)).toBe(webTarget.client)
    }
  })

  it('two flows of one browser may be on their way at once, each with a cookie of its own', async () => {
    const host = await oauthHost()
    const first = await host.startWeb('client', 'google')
    const second = await host.send('GET', start(), { cookie: flowCookieOf(first) })
    const cookies = [flowCookieOf(first), flowCookieOf(second)]
    const [name, key] = [0, 1].map((at) => new Set(cookies.map((one) => one.split('=')[at])))
    expect([name?.size, key?.size]).toEqual([2, 2])
    for (const [at, reply] of [first, second].entries()) {
      const account = { subject: `7${at}`, email: `tab-${at}@example.org`, verified: true }
      const brought = host.stub.agree(locationOf(reply), account)
      const back = await host.comeBack('client', 'google', brought, cookies.join('; '))
      expect(locationOf(back)).toBe(webTarget.client)
    }
  })

  it('a planted key is never adopted: a flow is bound to a new one', async () => {
    const host = await oauthHost()
    const theirs = await host.depart('client', 'google')
    const mine = await host.send('GET', start(), { cookie: theirs.cookie })
    const planted = theirs.cookie.slice(theirs.cookie.indexOf('=') + 1)
    expect(mine.setCookies.join()).not.toContain(planted)
    // Whoever knows the planted key comes back with the other person's answer, and is nobody.
    const name = flowCookieOf(mine).split('=')[0]
    const brought = host.stub.agree(locationOf(mine), ada)
    for (const cookie of [theirs.cookie, `${name}=${planted}`]) {
      const refused = await host.comeBack('client', 'google', brought, cookie)
      expectProblem(refused, 400, 'invalid_oauth_state')
    }
    const back = await host.comeBack('client', 'google', brought, flowCookieOf(mine))
    expect(locationOf(back)).toBe(webTarget.client)
  })

  it('a browser keeps eight of them: another site could begin any number', async () => {
    const host = await oauthHost()
    let kept: string[] = []
    for (let begun = 0; begun < 20; begun += 1) {
      const reply = await host.send('GET', start(), { cookie: kept.join('; ') })
      const gone = reply.setCookies.filter((one) => one.includes('=; Max-Age=0')).map(nameOf)
      kept = [...kept.filter((one) => !gone.includes(nameOf(one))), flowCookieOf(reply)]
      expect(kept.length).toBe(Math.min(begun + 1, 8))
    }
  })

  it('lists what is offered, and counts as what it is', async () => {
    const host = await oauthHost({
      settings: { microsoftClientEnabled: false, appleOperatorEnabled: false },
    })
    const listed = async (surface: string) =>
      (await host.send('GET', `/v1/auth/${surface}/oauth/providers`)).json()
    expect(await listed('client')).toEqual({
      providers: [
        { id: 'google', name: 'Google' },
        { id: 'apple', name: 'Apple' },
        { id: 'github', name: 'GitHub' },
      ],
    })
    expect(JSON.stringify(await listed('operator'))).not.toContain('apple')
  })

  it.each([
    ['google', 'googleClientId'],
    ['google', 'googleClientSecret'],
    ['microsoft', 'microsoftClientSecret'],
    ['apple', 'appleServicesId'],
    ['apple', 'appleTeamId'],
    ['apple', 'appleKeyId'],
    ['apple', 'applePrivateKey'],
    ['github', 'githubClientSecret'],
  ] as const)(
    'does not list %s without %s: who went there would not come back',
    async (id, key) => {
      const host = await oauthHost({ settings: { [key]: '' } })
      for (const surface of surfaces) {
        const { providers } = (await host.send('GET', `/v1/auth/${surface}/oauth/providers`)).json()
        const all = JSON.stringify(providers)
        expect([all.includes(`"${id}"`), all.match(/"id"/g)?.length]).toEqual([false, 3])
        expectProblem(await host.startWeb(surface, id), 403, 'oauth_provider_disabled')
      }
    },
  )

  it('each provider has a callback of its own, below the address that browsers reach', async () => {
    const surface = {
      baseUrl: 'https://app.example.com',
      routesUrl: 'https://app.example.com/identity/',
    }
    const operator = { baseUrl: 'https://admin.example.com' }
    const host = await oauthHost({ surfaces: { operator, client: surface } })
    const callback = async (of: 'operator' | 'client') =>
      new URL(locationOf(await host.startWeb(of, 'google'))).searchParams.get('redirect_uri')
    expect(await callback('client')).toBe(
      'https://app.example.com/identity/v1/auth/client/oauth/google/callback',
    )
    expect(await callback('operator')).toBe(
      'https://admin.example.com/v1/auth/operator/oauth/google/callback',
    )
  })
})

describe('a form', () => {
  const path = '/v1/auth/client/oauth/apple/callback'
  const type = 'application/x-www-form-urlencoded'

  it.each([
    ['JSON', 'application/json', '{"state":"x"}', 415, 'unsupported_media_type'],
    ['no type', '', 'state=x', 415, 'unsupported_media_type'],
    ['a member twice', type, 'state=x&state=y', 400, 'invalid_request'],
    ['another provider', type, 'state=x', 404, 'not_found'],
    ['a charset', `${type}; charset=UTF-8`, 'state=x', 400, 'invalid_oauth_state'],
    ['nothing in it', type, '', 400, 'invalid_request'],
    ['too much in it', type, `state=${'x'.repeat(70_000)}`, 413, 'payload_too_large'],
  ] as const)('with %s', async (what, contentType, body, status, code) => {
    const host = await oauthHost()
    const at = what === 'another provider' ? path.replace('apple', 'google') : path
    const headers = { 'content-type': contentType || 'text/plain' }
    expectProblem(await host.send('POST', at, { body, headers }), status, code)
  })

  it('is the only way back for Apple, and no way for the others', async () => {
    const host = await oauthHost()
    const { authorizationUrl, cookie } = await host.depart('client', 'apple')
    const brought = host.stub.agree(authorizationUrl, { subject: '1' })
    const query = new URLSearchParams(brought)
    expectProblem(await host.send('GET', `${path}?${query}`, { cookie }), 404, 'not_found')
  })
})

eachFramework.describe('a HEAD, which a link scanner sends', (kind) => {
  it('spends no answer and begins no flow', async () => {
    const host = await oauthHost({}, kind)
    const { authorizationUrl, cookie } = await host.depart('client', 'google')
    const brought = host.stub.agree(authorizationUrl, {
      subject: '1',
      email: 'a@example.org',
      verified: true,
    })
    const path = `/v1/auth/client/oauth/google/callback?${new URLSearchParams(brought)}`
    const raw = rawClient(host.url)
    const head = await raw('HEAD', path, { headers: { cookie } })
    expect([head.status, head.headers.get('allow'), head.setCookies]).toEqual([
      405,
      'GET, POST',
      [],
    ])
    const query = new URLSearchParams({ redirectUri: webTarget.client })
    const begun = await raw('HEAD', `/v1/auth/client/oauth/google/start?${query}`)
    expect([begun.status, begun.headers.get('allow'), begun.setCookies]).toEqual([405, 'GET', []])
    const back = await host.send('GET', path, { cookie })
    expect([back.status, locationOf(back)]).toEqual([302, webTarget.client])
  })
})
