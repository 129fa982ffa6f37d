import { describe, expect, it } from 'vitest'
import { providerIds } from '../../../src/identity-providers/providers.js'
import {
  locationOf,
  type OauthHost,
  oauthHost,
  webTarget,
} from '../../contract/oauth/oauth-host.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import type { Reply } from '../../support/hosts/http-client.js'
import { eachFramework } from '../../support/hosts/matrix.js'
import { type RawSend, rawClient } from '../../support/hosts/raw-client.js'
import { signedInPerson } from '../../support/people/people.js'

const markup = `<img src=x onerror=alert(1)>"'</script><script>alert(1)</script>`
const json = /^application\/(problem\+)?json; charset=utf-8$/

/** As they would stand in a request line; `fetch` would repair some of them. */
const malformed = [
  ...['%', '%zz', '%E0%A4%A', '%C0%AF', '%00', '%F4%90%80%80', '%ED%A0%80', 'https://%'],
  ...['https://[', 'https://[::1', 'http://:0', 'https://a:99999', '//', '///', 'https:', ':'],
  ...['http://a%20b', 'https://xn--', '\\\\evil', '%0d%0aset-cookie:x=y', '%F0%9F%92%A9'],
  'a'.repeat(2000),
  `https://app.example.com/${'%2e'.repeat(600)}`,
]

const members = ['redirectUri', 'redirect_uri', 'returnTo', 'callbackUrl', 'error', 'state']

/** Everything that reads where to go from a request line. */
const paths = [
  ...providerIds.map((id) => `/v1/auth/client/oauth/${id}/start`),
  ...providerIds.map((id) => `/v1/auth/client/oauth/${id}/callback`),
]

const isAlive = async (host: ContractHost): Promise<boolean> =>
  (await host.send('GET', '/v1/auth/client/oauth/providers')).status === 200

interface Came {
  readonly reply: Reply
  readonly took: number
}

/** Six members of one query, each with this text. */
async function cameOf(raw: RawSend, path: string, text: string): Promise<Came> {
  const query = members.map((name) => `${name}=${text}`).join('&')
  const before = performance.now()
  const reply = await raw('GET', `${path}?${query}`)
  return { reply, took: performance.now() - before }
}

function isRefused({ reply, took }: Came): boolean {
  const leads = reply.headers.has('location') || reply.setCookies.length > 0
  return reply.status >= 400 && reply.status < 500 && !leads && took < 1000
}

eachFramework.describe('a request line that is no address', (kind) => {
  it('is refused at once, whatever stands where an address is read, and the process goes on', async () => {
    const host = await oauthHost({}, kind)
    const raw = rawClient(host.url)
    const wrong: unknown[] = []
    for (const path of paths) {
      for (const text of malformed) {
        const came = await cameOf(raw, path, text)
        if (!isRefused(came)) wrong.push([path, text.slice(0, 40), came.reply.status, came.took])
      }
    }
    expect(wrong).toEqual([])
    expect(await isAlive(host)).toBe(true)
  })
})

describe('bodies that name where to go', () => {
  it('are refused for 64 KiB and for what is no address, and cost next to nothing', async () => {
    const host = await oauthHost()
    const { bearer, password } = await signedInPerson(host, 'operator')
    const long = 'a'.repeat(60_000)
    for (const redirectUri of [...malformed, long, `https://app.example.com/${long}`]) {
      const app = await host.startApp('client', 'google', { redirectUri })
      const body = { redirectUri, currentPassword: password }
      const link = await host.send('POST', '/v1/auth/operator/oauth/google/link', { bearer, body })
      for (const reply of [app, link]) {
        expect([redirectUri.slice(0, 40), reply.status]).toEqual([redirectUri.slice(0, 40), 400])
      }
    }
    expect(await isAlive(host)).toBe(true)
  })
})

/** Where a reply leads to, and what it is, hold nothing that a browser would take for markup. */
function expectNoMarkup(reply: Reply): void {
  const location = reply.headers.get('location') ?? ''
  expect(`${reply.text}${location}`).not.toMatch(/<|onerror|alert\(1\)/)
  if (reply.text !== '') expect(reply.headers.get('content-type')).toMatch(json)
  expect(reply.headers.get('x-content-type-options')).toBe('nosniff')
}

describe.each(providerIds)('what a request to %s says of an error', (provider) => {
  async function came(host: OauthHost, parameters: Record<string, string>, cookie?: string) {
    const all = { error_description: markup, error_uri: markup, returnTo: markup, ...parameters }
    return host.comeBack('client', provider, all, cookie)
  }

  it('is in no reply, neither as a page nor where that leads', async () => {
    const host = await oauthHost()
    for (const error of [markup, 'access_denied', 'server_error']) {
      expectNoMarkup(await came(host, { error, state: markup }))
      expectNoMarkup(await came(host, { error, state: 'x'.repeat(43) }))
      const { authorizationUrl, cookie } = await host.depart('client', provider)
      const state = new URL(authorizationUrl).searchParams.get('state') ?? ''
      const back = await came(host, { error, state }, cookie)
      expectNoMarkup(back)
      expect(locationOf(back)).toMatch(/^https:\/\/app\.example\.com\/signed-in\?error=oauth_\w+$/)
    }
    const started = await host.startWeb('client', provider, { redirectUri: markup, error: markup })
    expectNoMarkup(started)
    const good = await host.depart('client', provider)
    const brought = { ...host.stub.agree(good.authorizationUrl, account), returnTo: markup }
    const back = await host.comeBack('client', provider, brought, good.cookie)
    expect([locationOf(back), back.text]).toEqual([webTarget.client, ''])
  })
})

const account = { subject: '1815', email: 'ada@example.org', verified: true }
