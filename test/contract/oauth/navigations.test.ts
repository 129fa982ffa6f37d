import { createServer } from 'node:http'
import express from 'express'
import { describe, expect, it } from 'vitest'
import { expressRouter } from '../../../adapters/express.js'
import { memory } from '../../../adapters/memory/index.js'
import type { Surface } from '../../../src/ports/surface.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import { type Reply, refreshCookieOf, textOf } from '../../support/hosts/http-client.js'
import { eachFramework, eachHost, eachSurface } from '../../support/hosts/matrix.js'
import { rawClient } from '../../support/hosts/raw-client.js'
import { listen } from '../../support/hosts/running-host.js'
import { codeOf } from '../../support/people/authenticator.js'
import { signedInPerson } from '../../support/people/people.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'
import {
  appTarget,
  changeSettings,
  flowCookieOf,
  locationOf,
  memberOf,
  type OauthHost,
  oauthHost,
  webTarget,
} from './oauth-host.js'

// Where a person ends who comes to the start or the callback of a sign-in with a whole page, whatever goes wrong.

const ada = { subject: '1815', email: 'ada@example.org', verified: true, name: 'Ada' }
const page = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
/** Browsers before Fetch Metadata. */
const oldPage = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const login = {
  operator: 'https://admin.example.com/login',
  client: 'https://app.example.com/login',
} as const

/** The browser's way to a door, with the headers that a navigation has. */
function browserOf({ url }: Pick<OauthHost, 'url'>, surface: Surface, prefix = '') {
  const raw = rawClient(url)
  const at = (provider: string, rest: string) =>
    `${prefix}/v1/auth/${surface}/oauth/${provider}/${rest}`
  return {
    start: (provider: string, query: object = {}, headers: object = page) => {
      const members = new URLSearchParams({ redirectUri: webTarget[surface], ...query })
      return raw('GET', at(provider, `start?${members}`), {
        headers: { 'sec-fetch-site': 'same-origin', ...headers },
      })
    },
    callback: (
      provider: string,
      parameters: Readonly<Record<string, string>>,
      cookie: string | null,
      headers: object = page,
    ) => {
      const members = new URLSearchParams(parameters).toString()
      const known = cookie === null ? {} : { cookie }
      const sent = { ...headers, ...known }
      if (provider !== 'apple') {
        return raw('GET', at(provider, `callback?${members}`), { headers: sent })
      }
      const type = { 'content-type': 'application/x-www-form-urlencoded' }
      return raw('POST', at(provider, 'callback'), { headers: { ...sent, ...type }, body: members })
    },
  }
}

function expectPage(reply: Reply, uri: string, code: string): void {
  expect([reply.status, reply.text], reply.text).toEqual([303, ''])
  const to = new URL(locationOf(reply))
  expect(to.searchParams.get('error')).toBe(code)
  to.searchParams.delete('error')
  expect(to.href.replace(/\?$/, '')).toBe(uri)
  expect(reply.setCookies).toEqual([])
}

const ways = ['google', 'apple'] as const

eachHost.describe('a page load that fails at a provider’s callback', (kind) => {
  const places = eachSurface.cells.flatMap((surface) =>
    ways.map((provider) => ({ surface, provider })),
  )

  it.each(places)(
    'of no flow of this browser leads to the page to sign in, and spends nothing: $provider [$surface]',
    async ({ surface, provider }) => {
      const host = await oauthHost({}, kind)
      const browser = browserOf(host, surface)
      const { authorizationUrl, cookie } = await host.depart(surface, provider)
      const brought = host.stub.agree(authorizationUrl, ada)
      const gone = { ...brought, state: 'A'.repeat(43) }
      expectPage(
        await browser.callback(provider, gone, cookie),
        login[surface],
        'invalid_oauth_state',
      )
      expectPage(
        await browser.callback(provider, { code: 'x', installation_id: '5' }, null),
        login[surface],
        'invalid_oauth_state',
      )
      const other = await host.depart(surface, provider)
      for (const stranger of [null, other.cookie]) {
        expectPage(
          await browser.callback(provider, brought, stranger),
          login[surface],
          'invalid_oauth_state',
        )
        expectPage(
          await browser.callback(provider, brought, stranger, oldPage),
          login[surface],
          'invalid_oauth_state',
        )
      }
      const done = await browser.callback(provider, brought, cookie)
      expect([done.status, locationOf(done)]).toEqual([302, webTarget[surface]])
    },
  )

  it.each(places)(
    'that comes again goes on where the very session is presented, without the provider: $provider [$surface]',
    async ({ surface, provider }) => {
      const host = await oauthHost({}, kind)
      const browser = browserOf(host, surface)
      const { authorizationUrl, cookie } = await host.depart(surface, provider)
      const brought = host.stub.agree(authorizationUrl, ada)
      const first = await browser.callback(provider, brought, cookie)
      const session = refreshCookieOf(first, surface)
      const asked = host.stub.requests.length
      const again = await browser.callback(provider, brought, `${cookie}; ${session}`)
      expect([again.status, again.setCookies]).toEqual([302, []])
      const to = new URL(locationOf(again))
      expect(to.searchParams.get('status')).toBe('authenticated')
      expect(to.href.startsWith(webTarget[surface])).toBe(true)
      const others = refreshCookieOf(await host.signIn(surface, provider, ada), surface)
      const since = host.stub.requests.length
      for (const shown of [cookie, `${cookie}; ${others}`]) {
        const reply = await browser.callback(provider, brought, shown)
        expectPage(reply, webTarget[surface], 'invalid_oauth_state')
      }
      // Not the browser whose flow it was.
      expectPage(
        await browser.callback(provider, brought, session),
        login[surface],
        'invalid_oauth_state',
      )
      expect(host.stub.requests.length).toBe(since)
      expect(since).toBeGreaterThan(asked)
      await host.send('POST', `/v1/auth/${surface}/logout`, { cookie: session })
      const ended = await browser.callback(provider, brought, `${cookie}; ${session}`)
      expectPage(ended, webTarget[surface], 'invalid_oauth_state')
      await host.clock.advance(10 * 60_000)
      expectPage(
        await browser.callback(provider, brought, cookie),
        login[surface],
        'invalid_oauth_state',
      )
    },
  )

  it.each(places)(
    'that comes again leads to the ticket of its login, and then to the session: $provider [$surface]',
    async ({ surface, provider }) => {
      const settings = { mfaPolicyOperator: 'required', mfaPolicyClient: 'required' } as const
      const host = await oauthHost({ settings }, kind)
      const browser = browserOf(host, surface)
      const { authorizationUrl, cookie } = await host.depart(surface, provider)
      const brought = host.stub.agree(authorizationUrl, ada)
      const { href } = new URL(locationOf(await browser.callback(provider, brought, cookie)))
      const asked = host.stub.requests.length
      const again = await browser.callback(provider, brought, cookie)
      expect([again.status, locationOf(again), again.setCookies]).toEqual([302, href, []])
      expectPage(
        await browser.callback(provider, brought, null),
        login[surface],
        'invalid_oauth_state',
      )
      const mfaToken = memberOf(again, 'ticket')
      const enroll = (path: string, body: object) =>
        host.send('POST', `/v1/auth/${surface}/mfa/totp${path}`, { body, cookie })
      const secret = textOf((await enroll('', { mfaToken })).json(), 'secret')
      const done = await enroll('/confirm', { mfaToken, code: codeOf(host, secret) })
      const session = refreshCookieOf(done, surface)
      const back = await browser.callback(provider, brought, `${cookie}; ${session}`)
      expect([back.status, memberOf(back, 'status')]).toEqual([302, 'authenticated'])
      const without = await browser.callback(provider, brought, cookie)
      expectPage(without, webTarget[surface], 'invalid_oauth_state')
      expect(host.stub.requests.length).toBe(asked)
    },
  )

  eachSurface.it('that comes again after its ticket leads to its redirectUri', async (surface) => {
    const settings = { mfaPolicyOperator: 'required', mfaPolicyClient: 'required' } as const
    const host = await oauthHost({ settings }, kind)
    const { authorizationUrl, cookie } = await host.depart(surface, 'google')
    const brought = host.stub.agree(authorizationUrl, ada)
    await host.comeBack(surface, 'google', brought, cookie)
    await host.clock.advance(5 * 60_000)
    const late = await browserOf(host, surface).callback('google', brought, cookie)
    expectPage(late, webTarget[surface], 'invalid_oauth_state')
  })

  it.each(places)(
    'of this browser’s flow leads to its redirectUri: $provider [$surface]',
    async ({ surface, provider }) => {
      const host = await oauthHost({}, kind)
      const browser = browserOf(host, surface)
      const begin = async () => {
        const flow = await host.depart(surface, provider)
        return { ...flow, brought: host.stub.agree(flow.authorizationUrl, ada) }
      }
      const denied = await begin()
      const { code: _, ...rest } = denied.brought
      const text = { ...rest, error: 'access_denied', error_description: 'the provider’s text' }
      expectPage(
        await browser.callback(provider, text, denied.cookie),
        webTarget[surface],
        'oauth_denied',
      )
      expectPage(
        await browser.callback(provider, text, denied.cookie),
        webTarget[surface],
        'invalid_oauth_state',
      )
      const down = await begin()
      host.stub.fail('error500')
      expectPage(
        await browser.callback(provider, down.brought, down.cookie),
        webTarget[surface],
        'oauth_failed',
      )
      host.stub.fail(null)
      const late = await begin()
      await host.clock.advance(10 * 60_000)
      expectPage(
        await browser.callback(provider, late.brought, late.cookie),
        webTarget[surface],
        'invalid_oauth_state',
      )
    },
  )

  eachSurface.it(
    'of an app leads to the app by its state alone, also when it comes again',
    async (surface) => {
      const host = await oauthHost({}, kind)
      const browser = browserOf(host, surface)
      const url = await host.departFromApp(surface, 'google', { appState: 'mine' })
      const brought = host.stub.agree(url, ada)
      expect((await browser.callback('google', brought, null)).status).toBe(302)
      const again = await browser.callback('google', brought, null)
      expect(again.status).toBe(303)
      expect(locationOf(again)).toBe(`${appTarget[surface]}?error=invalid_oauth_state&state=mine`)
    },
  )
})

eachFramework.describe('a page load that fails at the start of a sign-in', (kind) => {
  eachSurface.it(
    'leads to the page to sign in, never to an address that is not listed',
    async (surface) => {
      const host = await oauthHost(
        { settings: { githubClientEnabled: false, githubOperatorEnabled: false } },
        kind,
      )
      const browser = browserOf(host, surface)
      for (const headers of [page, oldPage]) {
        const other = { redirectUri: 'https://evil.example/' }
        expectPage(
          await browser.start('google', other, headers),
          login[surface],
          'redirect_not_allowed',
        )
        expectPage(
          await browser.start('google', { redirectUri: '' }, headers),
          login[surface],
          'invalid_request',
        )
        expectPage(
          await browser.start('github', {}, headers),
          login[surface],
          'oauth_provider_disabled',
        )
        expectPage(await browser.start('facebook', {}, headers), login[surface], 'not_found')
      }
      const fetched = [
        { 'sec-fetch-mode': 'cors', accept: 'text/html' },
        { 'sec-fetch-mode': 'no-cors' },
        { accept: 'application/json' },
        {},
      ]
      for (const headers of fetched) {
        expectProblem(await browser.start('facebook', {}, headers), 404, 'not_found')
        const callback = await browser.callback('google', { state: 'x' }, null, headers)
        expectProblem(callback, 400, 'invalid_oauth_state')
      }
    },
  )
})

eachSurface.describe('a page load for a provider', (surface) => {
  it('that comes too often leads to the page to sign in', async () => {
    const oauthPerIp = { limit: 2, windowMs: 60_000 }
    const rateLimits = { oauthPerIp, exact: true }
    const surfaces = {
      operator: { baseUrl: 'https://admin.example.com', rateLimits },
      client: { baseUrl: 'https://app.example.com', rateLimits },
    }
    const host = await oauthHost({ surfaces })
    const browser = browserOf(host, surface)
    await browser.start('google')
    await browser.start('google')
    expectPage(await browser.start('google'), login[surface], 'rate_limited')
    expectPage(
      await browser.callback('google', { state: 'x' }, null),
      login[surface],
      'rate_limited',
    )
  })

  it('with a token of the other surface is refused in JSON', async () => {
    const host = await oauthHost()
    const browser = browserOf(host, surface)
    const elsewhere = surface === 'operator' ? 'client' : 'operator'
    const reply = await host.signInApp(elsewhere, 'google', ada)
    const headers = { ...page, authorization: `Bearer ${reply.json()['accessToken']}` }
    expectProblem(await browser.start('google', {}, headers), 401, 'audience_mismatch')
    const callback = await browser.callback('google', { state: 'x' }, null, headers)
    expectProblem(callback, 401, 'audience_mismatch')
  })

  it('that only fetches ahead starts and spends nothing', async () => {
    const host = await oauthHost()
    const browser = browserOf(host, surface)
    const ahead = [
      { 'sec-purpose': 'prefetch;prerender' },
      { 'sec-purpose': 'prefetch' },
      { purpose: 'prefetch' },
    ]
    const { authorizationUrl, cookie } = await host.depart(surface, 'google')
    const brought = host.stub.agree(authorizationUrl, ada)
    for (const headers of ahead) {
      const begun = await browser.start('google', {}, { ...page, ...headers })
      expectProblem(begun, 503, 'service_unavailable')
      expect(begun.setCookies).toEqual([])
      const back = await browser.callback('google', brought, cookie, { ...page, ...headers })
      expectProblem(back, 503, 'service_unavailable')
    }
    expect(host.stub.requests).toEqual([])
    expect((await browser.callback('google', brought, cookie)).status).toBe(302)
  })

  it('whose target was taken off the list meanwhile leads to the page to sign in', async () => {
    const host = await oauthHost({ authorizer: { check: async () => true } })
    const browser = browserOf(host, surface)
    const { authorizationUrl, cookie } = await host.depart(surface, 'google')
    const brought = host.stub.agree(authorizationUrl, ada)
    const { bearer } = await signedInPerson(host, 'operator')
    const environment = '/v1/admin/modules/auth/environments/production'
    const { revision } = (await host.send('GET', environment, { bearer })).json()
    const recordLists = [{ field: 'oauthRedirectTargets', create: [], remove: [`${surface}-web`] }]
    const done = await host.send('PATCH', environment, { bearer, body: { recordLists, revision } })
    expect(done.status, done.text).toBe(200)
    const reply = await browser.callback('google', brought, cookie)
    expectPage(reply, login[surface], 'redirect_not_allowed')
  })

  it('whose provider was switched off meanwhile leads to its redirectUri', async () => {
    const host = await oauthHost({ authorizer: { check: async () => true } })
    const browser = browserOf(host, surface)
    const { authorizationUrl, cookie } = await host.depart(surface, 'google')
    const brought = host.stub.agree(authorizationUrl, ada)
    const name = surface === 'operator' ? 'googleOperatorEnabled' : 'googleClientEnabled'
    await changeSettings(host, { [name]: 'false' })
    const reply = await browser.callback('google', brought, cookie)
    expectPage(reply, webTarget[surface], 'oauth_provider_disabled')
  })

  it('whose provider cannot be reached leads to its redirectUri', async () => {
    const host = await oauthHost()
    const browser = browserOf(host, surface)
    const { authorizationUrl, cookie } = await host.depart(surface, 'google')
    const brought = host.stub.agree(authorizationUrl, ada)
    host.stub.fail('error500')
    expectPage(
      await browser.callback('google', brought, cookie),
      webTarget[surface],
      'oauth_failed',
    )
  })

  it.each([
    ['is spent', `${surface}_challenges.update`],
    ['is judged', `${surface}_oauth_identities.get`],
  ])('leads to its redirectUri where the store fails when its flow %s', async (_when, call) => {
    const faulty = faultyBackend(memory())
    const host = await oauthHost({ backend: faulty.backend })
    const browser = browserOf(host, surface)
    const { authorizationUrl, cookie } = await host.depart(surface, 'google')
    const brought = host.stub.agree(authorizationUrl, ada)
    faulty.failNext(call, 'before', Number.POSITIVE_INFINITY)
    expectPage(
      await browser.callback('google', brought, cookie),
      webTarget[surface],
      'service_unavailable',
    )
    faulty.heal()
    expect(await host.auth[surface].users.findByEmail(ada.email)).toBeNull()
  })

  it('leads to the same pages below a mount prefix', async () => {
    const routesUrl = `${new URL(login[surface]).origin}/identity`
    const surfaces = {
      operator: { baseUrl: 'https://admin.example.com' },
      client: { baseUrl: 'https://app.example.com' },
    }
    const own = { ...surfaces[surface], routesUrl }
    const host = await oauthHost({ surfaces: { ...surfaces, [surface]: own } })
    const app = express().use('/identity', expressRouter(host.auth.both))
    const below = await listen(createServer(app))
    try {
      const browser = browserOf(below, surface, '/identity')
      expectPage(await browser.start('facebook'), login[surface], 'not_found')
      const begun = await browser.start('google')
      const callback = new URL(locationOf(begun)).searchParams.get('redirect_uri')
      expect(callback).toBe(`${routesUrl}/v1/auth/${surface}/oauth/google/callback`)
      const brought = host.stub.agree(locationOf(begun), ada)
      expectPage(
        await browser.callback('google', brought, null),
        login[surface],
        'invalid_oauth_state',
      )
      const cookie = flowCookieOf(begun)
      const denied = { error: 'access_denied', state: brought['state'] ?? '' }
      const refused = await browser.callback('google', denied, cookie)
      expectPage(refused, webTarget[surface], 'oauth_denied')
      const again = await browser.callback('google', brought, cookie)
      expectPage(again, webTarget[surface], 'invalid_oauth_state')
    } finally {
      await below.close()
    }
  })

  it('keeps the query and the fragment of a page to sign in of the host’s own', async () => {
    const pages = { login: `${login[surface]}?from=provider` }
    const surfaces = {
      operator: { baseUrl: 'https://admin.example.com', pages },
      client: { baseUrl: 'https://app.example.com', pages },
    }
    const host = await oauthHost({ surfaces })
    const reply = await browserOf(host, surface).start('facebook')
    expect(locationOf(reply)).toBe(`${pages.login}&error=not_found`)
  })
})

describe('the query of a start', () => {
  const asked = async (query: object, headers: object = {}) => {
    const host = await oauthHost()
    const reply = await browserOf(host, 'client').start('google', query, { ...page, ...headers })
    expect(reply.status, reply.text).toBe(302)
    return new URL(locationOf(reply)).searchParams
  }

  it('may have members of others, which are not passed on', async () => {
    const sent = await asked({ utm_source: 'mail', fbclid: 'x', scope: 'all' })
    expect([sent.get('utm_source'), sent.get('fbclid')]).toEqual([null, null])
    expect(sent.get('scope')).toBe('openid email profile')
  })

  it('passes hints on as they are', async () => {
    const sent = await asked({ login_hint: 'ada@example.org', hd: 'example.org' })
    expect([sent.get('login_hint'), sent.get('hd')]).toEqual(['ada@example.org', 'example.org'])
  })

  it.each(['select_account', 'login', 'consent'])('passes on the prompt %s', async (prompt) => {
    expect((await asked({ prompt })).get('prompt')).toBe(prompt)
  })

  it.each(['none', 'login consent', 'x', ''])(
    'does not pass on the prompt "%s"',
    async (prompt) => {
      expect((await asked({ prompt })).get('prompt')).toBeNull()
    },
  )

  it('takes nothing away from what the library asks itself', async () => {
    const foreign = { 'sec-fetch-site': 'cross-site' }
    expect((await asked({ prompt: 'login' }, foreign)).get('prompt')).toBe('select_account login')
    expect((await asked({ prompt: 'select_account' }, foreign)).get('prompt')).toBe(
      'select_account',
    )
    expect((await asked({ prompt: 'none' }, foreign)).get('prompt')).toBe('select_account')
  })
})
