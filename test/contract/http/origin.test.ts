import { afterAll, beforeAll, expect, it } from 'vitest'
import { expectProblem } from '../../support/hosts/expectations.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { eachFramework } from '../../support/hosts/matrix.js'
import { type RawSend, rawClient } from '../../support/hosts/raw-client.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import {
  type Person,
  type SignedIn,
  signedInApp,
  signedInPerson,
} from '../../support/people/people.js'

const own = 'https://app.example.com'
const listed = 'https://www.example.com'
/** The page of an app for phones: no URL of the web, so `URL` knows no origin of it. */
const app = 'capacitor://localhost'

/** Sec-Fetch-Site by Origin; null stands for a header that was not sent. */
const sites = [null, 'same-origin', 'none', 'same-site', 'cross-site', 'Same-Origin', ''] as const
const origins = [
  null,
  own,
  listed,
  app,
  'https://admin.example.com',
  'https://app.evil.example',
  'https://app.example.com.evil.example',
  'https://evil.example/https://app.example.com',
  'http://app.example.com',
  'https://app.example.com:444',
  'https://app.example.com:443',
  'https://APP.example.com',
  'https://app.example.com/',
  `${own}, ${listed}`,
  'null',
  '',
  'ionic://localhost',
  'capacitor://localhost.evil.example',
  'capacitor://localhost/',
  'https://localhost',
] as const

type Site = (typeof sites)[number]
type Origin = (typeof origins)[number]

/** The decision in its own words: G-39 as amended. */
function passes(site: Site, origin: Origin): boolean {
  if (site === 'same-origin' || site === 'none') return true
  if (origin === own || origin === listed || origin === app) return true
  return site === null && origin === null
}

const table = sites.flatMap((site) =>
  origins.map((origin) => ({ site, origin, verdict: passes(site, origin) ? 'passes' : 'fails' })),
)

function headersOf(site: Site, origin: Origin): Record<string, string> {
  return {
    ...(site === null ? {} : { 'sec-fetch-site': site }),
    ...(origin === null ? {} : { origin }),
  }
}

eachFramework.describe('the origin of a request', ({ start }) => {
  let host: ContractHost
  let raw: RawSend
  let ada: Person & SignedIn
  const at = (path: string): string => `/v1/auth/client${path}`

  beforeAll(async () => {
    const { operator, client } = withoutLimits.surfaces
    host = await start({
      ...withoutLimits,
      surfaces: { operator, client: { ...client, allowedOrigins: [listed, app] } },
    })
    raw = rawClient(host.url)
    ada = await signedInPerson(host, 'client')
  })
  afterAll(() => host.close())

  it.each(table)('Sec-Fetch-Site $site with Origin $origin $verdict', async (given) => {
    const { site, origin, verdict } = given
    const headers = headersOf(site, origin)
    const withCookie = { headers: { ...headers, cookie: ada.cookie } }
    const session = await raw('GET', at('/session'), withCookie)
    const bare = await raw('GET', '/v1/auth/session', withCookie)
    const refresh = await raw('POST', at('/refresh-cookie'), { headers })
    const logout = await raw('POST', at('/logout'), { headers })
    if (verdict === 'passes') {
      expect([session.status, bare.status]).toEqual([200, 200])
      // Past the origin check there is nobody: no cookie was sent.
      expectProblem(refresh, 401)
      expectProblem(logout, 401)
    } else {
      for (const reply of [session, bare, refresh, logout]) {
        expectProblem(reply, 403, 'csrf_rejected')
        expect(reply.setCookies).toEqual([])
      }
    }
  })

  it('a refused request neither rotates nor ends anything', async () => {
    const { cookie, bearer, refreshToken } = await signedInPerson(host, 'client')
    const headers = { ...headersOf('cross-site', 'https://app.evil.example'), cookie }
    const json = { ...headers, 'content-type': 'application/json' }
    const requests = [
      raw('POST', at('/refresh-cookie'), { headers }),
      raw('POST', '/v1/auth/refresh-cookie', { headers }),
      raw('POST', at('/logout'), { headers }),
      raw('POST', at('/logout'), { headers: { ...headers, authorization: `Bearer ${bearer}` } }),
      raw('POST', at('/logout'), { headers: json, body: JSON.stringify({ refreshToken }) }),
      raw('POST', at('/logout'), { headers: json, body: 'nope' }),
      raw('GET', at('/session'), { headers }),
      raw('HEAD', at('/session'), { headers }),
    ]
    for (const reply of await Promise.all(requests)) {
      expect([reply.status, reply.setCookies]).toEqual([403, []])
    }
    expect((await host.send('GET', at('/me'), { bearer })).status).toBe(200)
    const rotated = await host.send('POST', at('/refresh-cookie'), { cookie })
    expect([rotated.status, rotated.headers.get('x-refresh-outcome')]).toEqual([200, 'rotated'])
  })

  it('a form or a link of another site is refused as well, though it opens a page', async () => {
    const { cookie, bearer } = await signedInPerson(host, 'client')
    const page = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
    const clicked = { ...page, 'sec-fetch-user': '?1', cookie }
    for (const site of ['cross-site', 'same-site', null] as const) {
      const headers = { ...headersOf(site, 'https://app.evil.example'), ...clicked }
      for (const [method, path] of [
        ['POST', '/logout'],
        ['POST', '/refresh-cookie'],
        ['GET', '/session'],
      ] as const) {
        const reply = await raw(method, at(path), { headers })
        expectProblem(reply, 403, 'csrf_rejected')
        expect(reply.setCookies).toEqual([])
      }
    }
    expect((await host.send('GET', at('/me'), { bearer })).status).toBe(200)
  })

  it('a passing request works to the end', async () => {
    const { cookie } = await signedInPerson(host, 'client')
    const headers = { ...headersOf('same-site', listed), cookie }
    const rotated = await raw('POST', at('/refresh-cookie'), { headers })
    expect(rotated.status).toBe(200)
    const [next = ''] = rotated.setCookies[0]?.split(';') ?? []
    const out = await raw('POST', at('/logout'), { headers: { ...headers, cookie: next } })
    expect(out.status).toBe(204)
  })

  it('does not matter where no cookie is a credential', async () => {
    const { bearer, email, password, refreshToken } = await signedInApp(host, 'client')
    const headers = headersOf('cross-site', 'https://app.evil.example')
    const login = await host.send('POST', at('/login'), { headers, body: { email, password } })
    const refreshed = await host.send('POST', at('/refresh'), { headers, body: { refreshToken } })
    const me = await host.send('GET', at('/me'), { headers, bearer })
    expect([login.status, refreshed.status, me.status]).toEqual([200, 200, 200])
  })

  it('lets the page of an app open a connection and post a form, as sessionOf reads it', async () => {
    const { cookie } = await signedInPerson(host, 'client')
    const { sessionOf } = host.auth.client
    const from = (origin: string, method: string) => ({
      method,
      headers: { cookie, ...headersOf('cross-site', null), origin },
    })
    const connect = (origin: string) => sessionOf(from(origin, 'GET'), { use: 'connection' })
    const act = (origin: string) => sessionOf(from(origin, 'POST'), { use: 'action' })
    for (const ask of [connect, act]) {
      expect(await ask(app)).toMatchObject({ surface: 'client' })
      await expect(ask('tauri://localhost')).rejects.toMatchObject({ code: 'csrf_rejected' })
    }
  })

  it('takes each surface at its own word', async () => {
    const { cookie } = await signedInPerson(host, 'operator')
    const session = (origin: Origin) =>
      raw('GET', '/v1/auth/operator/session', {
        headers: { ...headersOf('same-site', origin), cookie },
      })
    expect((await session('https://admin.example.com')).status).toBe(200)
    expectProblem(await session(own), 403, 'csrf_rejected')
    expectProblem(await session(listed), 403, 'csrf_rejected')
  })
})
