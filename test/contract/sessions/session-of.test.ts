import { describe, expect, it, onTestFinished } from 'vitest'
import { memoryHost } from '../../support/hosts/hosts.js'
import { httpClient } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { eventsOf, outcomeOf } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { signedInPerson } from '../../support/people/people.js'
import { sessionOf } from '../events/event-scenario.js'
import { renderingHosts } from './rendering-hosts.js'

const origins = { operator: 'https://admin.example.com', client: 'https://app.example.com' }
const names = { operator: '__Host-op_refresh', client: '__Host-cl_refresh' }

type Serve = (typeof renderingHosts)[keyof typeof renderingHosts]

async function open(serve: Serve) {
  const host = await memoryHost.start(withoutLimits)
  const running = await serve(host.auth)
  onTestFinished(async () => {
    await running.close()
    await host.close()
  })
  return { host, send: httpClient(running.url) }
}

describe.each(Object.entries(renderingHosts))('sessionOf on %s', (_name, serve) => {
  eachSurface.it('tells who is signed in from the request alone', async (surface) => {
    const { host, send } = await open(serve)
    const { cookie, id, email, refreshToken, bearer } = await signedInPerson(host, surface)
    const origin = origins[surface]
    const at = (use: string) => `/host/${surface}/${use}`
    const facts = {
      surface,
      user: { id, email, name: 'Ada', emailVerified: true },
      session: {
        id: sessionOf(refreshToken),
        loginAt: host.clock.now(),
        idleExpiresAt: host.clock.now() + 7 * 24 * 3_600_000,
      },
    }
    const page = await send('GET', at('page'), { cookie })
    expect([page.status, page.json()]).toMatchObject([200, facts])
    expect(page.headers.get('cache-control')).toBe('private, no-store')
    expect(page.setCookies).toEqual([])
    const opened = await send('GET', at('connection'), { cookie, headers: { origin } })
    expect(opened.json()).toMatchObject(facts)
    const acted = await send('POST', at('action'), { cookie, headers: { origin } })
    expect(acted.json()).toMatchObject(facts)
    for (const reply of [page, opened, acted]) expect(reply.text).not.toMatch(/ccessToken|eyJ/)

    for (const given of [{}, { bearer }, { cookie: `${names[surface]}=forged` }]) {
      expect((await send('GET', at('page'), given)).text).toBe('null')
    }
    expect(eventsOf(host, 'session.viewed')).toMatchObject([{ surface, ip: '127.0.0.1' }])
  })

  eachSurface.it('refuses methods and origins that a use is not for', async (surface) => {
    const { host, send } = await open(serve)
    const { cookie } = await signedInPerson(host, surface)
    const origin = origins[surface]
    const sibling = 'https://shop.example.com'
    const ask = async (method: string, use: string, headers: Record<string, string> = {}) =>
      outcomeOf(await send(method, `/host/${surface}/${use}`, { cookie, headers }))
    const site = (value: string) => ({ 'sec-fetch-site': value })

    const [method, csrf] = ['405 method_not_allowed', '403 csrf_rejected']
    for (const given of [{ origin: sibling }, site('cross-site')]) {
      expect(await ask('GET', 'page', given)).toBe('200')
    }
    for (const unsafe of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      expect(await ask(unsafe, 'page', { origin })).toBe(method)
      expect(await ask(unsafe, 'action', { origin })).toBe('200')
    }
    expect(await ask('GET', 'action', { origin })).toBe(method)
    expect(await ask('GET', 'mint', { origin })).toBe(method)

    for (const use of ['connection', 'action', 'mint']) {
      const way = use === 'connection' ? 'GET' : 'POST'
      for (const given of [
        { origin: sibling },
        { origin: 'null' },
        { origin: `${origin}, ${sibling}` },
        { origin: sibling, ...site('same-site') },
        { origin: sibling, ...site('cross-site') },
        site('same-site'),
        site('cross-site'),
      ]) {
        expect([use, given, await ask(way, use, given)]).toEqual([use, given, csrf])
      }
      for (const given of [{ origin }, site('same-origin'), { origin, ...site('cross-site') }]) {
        expect(await ask(way, use, given)).toBe('200')
      }
    }
    expect(await ask('POST', 'action')).toBe('200')
    expect(await ask('GET', 'connection')).toBe(csrf)
    expect(await ask('GET', 'connection', site('none'))).toBe(csrf)
  })

  it('keeps the two surfaces apart', async () => {
    const { host, send } = await open(serve)
    const operator = await signedInPerson(host, 'operator')
    const client = await signedInPerson(host, 'client')
    const asClient = async (cookie: string) =>
      (await send('GET', '/host/client/page', { cookie })).text
    expect(await asClient(operator.cookie)).toBe('null')
    expect(await asClient(`${names.client}=${operator.refreshToken}`)).toBe('null')
    expect(await asClient(`${names.client}=${client.bearer}`)).toBe('null')
    expect(await asClient(`${operator.cookie}; ${client.cookie}`)).toContain(client.id)
    // Of two that were minted here for different people, neither counts.
    const other = await signedInPerson(host, 'client')
    expect(await asClient(`${client.cookie}; ${other.cookie}`)).toBe('null')
  })

  it('mints an access token only where it is asked for', async () => {
    const { host, send } = await open(serve)
    const { cookie, id } = await signedInPerson(host, 'client')
    const headers = { origin: origins.client }
    const { access } = (await send('POST', '/host/client/mint', { cookie, headers })).json() as {
      access: { accessToken: string; tokenType: string; expiresIn: number }
    }
    expect(access).toMatchObject({ tokenType: 'Bearer', expiresIn: 900 })
    const principal = await host.auth.client.authenticate(`Bearer ${access.accessToken}`)
    expect(principal).toMatchObject({ surface: 'client', userId: id })
  })
})
