import { expect, it } from 'vitest'
import { oauthHost, webTarget } from '../../contract/oauth/oauth-host.js'
import { eachFramework } from '../../support/hosts/matrix.js'
import { rawClient } from '../../support/hosts/raw-client.js'
import { goodPassword, person } from '../../support/people/people.js'

const hostile = [
  { host: 'evil.example' },
  { host: 'evil.example:443', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' },
  { host: '127.0.0.1', forwarded: 'host=evil.example;proto=http', 'x-host': 'evil.example' },
  { host: 'app.example.com:80@evil.example', 'x-forwarded-server': 'evil.example' },
]

eachFramework.describe('a process whose first requests lie about its name', (kind) => {
  it.each(['client', 'both'] as const)(
    'mails, redirects and cookies are of the configured address afterwards, and at once, mounted as %s',
    async (mount) => {
      const host = await oauthHost({ mount, trustProxy: false }, kind)
      const raw = rawClient(host.url)
      const { email } = await person(host, 'client')
      const start = `/v1/auth/client/oauth/google/start?${new URLSearchParams({
        redirectUri: webTarget.client,
      })}`
      const begin = (headers: Record<string, string>) => raw('GET', start, { headers })
      const post = (path: string, body: object, headers: Record<string, string>) =>
        raw('POST', `/v1/auth/client${path}`, {
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
      // Of a fetch request the server makes an address first, which refuses the last of them.
      const named = kind.name.startsWith('fetch') ? hostile.slice(0, -1) : hostile
      const all = [...named, { host: '127.0.0.1' }]
      for (const [index, headers] of all.entries()) {
        const begun = await begin(headers)
        const address = `new-${index}@example.org`
        await post('/register', { email: address, password: goodPassword }, headers)
        await post('/password/forgot', { email }, headers)
        if (begun.status !== 302) {
          // On one host for both surfaces, a name of neither is not answered at all.
          expect([mount, begun.status]).toEqual(['both', 404])
          continue
        }
        const url = new URL(begun.headers.get('location') ?? '')
        expect(url.searchParams.get('redirect_uri')).toBe(
          'https://app.example.com/v1/auth/client/oauth/google/callback',
        )
        expect(begun.setCookies.every((cookie) => /^__Host-.*; Secure$/.test(cookie))).toBe(true)
      }
      await host.auth.close()
      const urls = host.mailer.sent.flatMap(({ data }) => ('url' in data ? [data.url] : []))
      expect(urls.length).toBeGreaterThanOrEqual(mount === 'client' ? 8 : 4)
      for (const url of urls) expect(new URL(url).origin).toBe('https://app.example.com')
      expect(JSON.stringify(host.mailer.sent)).not.toContain('evil')
    },
  )
})
