import { describe, expect, expectTypeOf, it } from 'vitest'
import type { Auth, ConnectionSession, PageSession, Principal } from '../../../src/index.js'
import { memoryHost } from '../../support/hosts/hosts.js'
import { eventsOf, openHost } from '../../support/hosts/open-host.js'
import { signedInPerson } from '../../support/people/people.js'
import { spyBackend } from '../../support/stores/spy-backend.js'

const page = { use: 'page' } as const

type Given = Readonly<Record<string, string>>

const capital = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}`

/** The same headers with other names, or with other values. */
function renamed(
  headers: Given,
  change: (text: string) => unknown,
  what: 'name' | 'value' = 'name',
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) =>
      what === 'name' ? [String(change(name)), value] : [name, change(value)],
    ),
  )
}

describe('what sessionOf cannot answer', () => {
  it('a store, a denylist or keys that fail are a 503 and never nobody', async () => {
    const spy = spyBackend()
    const host = await openHost({ backend: spy.backend })
    const { cookie, id } = await signedInPerson(host, 'client')
    await host.auth.close()
    const request = { method: 'GET', headers: { cookie } }
    const unavailable = { status: 503, code: 'session_enforcement_unavailable' }
    spy.fail(() => new Error('down'))
    await expect(host.auth.client.sessionOf(request, page)).rejects.toMatchObject(unavailable)
    spy.fail(null)
    // The request that was not answered may ask again.
    const found = await host.auth.client.sessionOf(request, page)
    expect(found?.user.id).toBe(id)
  })

  it.each([['client_users.get'], ['client_refresh_tokens.get'], ['denylist.find']])(
    '… each read by itself: %s',
    async (failing) => {
      const spy = spyBackend()
      const host = await openHost({ backend: spy.backend })
      const { cookie } = await signedInPerson(host, 'client')
      await host.auth.close()
      spy.calls.length = 0
      spy.fail(() => {
        // Made for each call once it was noted: the last one is the call that asks.
        if (spy.calls.at(-1) === failing) return new Error('down')
        throw new Error(`not ${failing}`)
      })
      const asking = host.auth.client.sessionOf({ method: 'GET', headers: { cookie } }, page)
      await expect(asking).rejects.toMatchObject({ status: 503 })
    },
  )
})

describe('one request', () => {
  it('is looked up once, writes nothing, and is asked afresh as another object', async () => {
    const spy = spyBackend()
    const host = await openHost({ backend: spy.backend })
    const { cookie, id } = await signedInPerson(host, 'client')
    await host.auth.client.sessionOf({ method: 'GET', headers: {} }, page)
    await host.auth.close()
    spy.calls.length = 0
    spy.written.length = 0
    const request = new Request('https://app.example.com/', { headers: { cookie } })
    const both = [1, 2].map(() => host.auth.client.sessionOf(request, page))
    for (const found of await Promise.all(both)) expect(found?.user.id).toBe(id)
    await host.auth.client.sessionOf(request, page)
    const reads = ['client_users.get', 'denylist.find', 'client_refresh_tokens.get']
    expect(spy.calls).toEqual(reads)
    expect(spy.written).toEqual([])
    await host.auth.client.sessionOf(request.clone(), page)
    expect(spy.calls).toHaveLength(6)
  })

  it('asks nothing of the store for a cookie that was not minted here', async () => {
    const spy = spyBackend()
    const host = await openHost({ backend: spy.backend })
    await host.auth.close()
    spy.calls.length = 0
    for (const value of ['', 'x', 'a.b.c', 'x'.repeat(4000)]) {
      const headers = { cookie: `__Host-cl_refresh=${value}` }
      expect(await host.auth.client.sessionOf({ method: 'GET', headers }, page)).toBeNull()
    }
    expect(spy.calls).toEqual([])
    expect(eventsOf(host, 'session.overdue')).toEqual([])
  })
})

describe('mistakes of a host', () => {
  it('are told by name and remedy', async () => {
    const { auth, close } = await memoryHost.start()
    const request = { method: 'POST', headers: {} }
    const ask = (given: unknown, options: unknown) =>
      // biome-ignore lint/suspicious/noExplicitAny: what JavaScript lets a host give
      auth.client.sessionOf(given as any, options as any)
    for (const given of [
      '__Host-cl_refresh=x',
      undefined,
      null,
      {},
      { headers: null },
      { headers: 'x' },
    ]) {
      await expect(ask(given, page), String(given)).rejects.toThrow(
        /not a cookie; give it the Request/,
      )
    }
    await expect(ask({ headers: {} }, page)).rejects.toThrow(/request.method is missing/)
    for (const options of [undefined, null, {}, { use: 'pages' }, { use: undefined }]) {
      await expect(ask(request, options)).rejects.toThrow(/use must be 'page'/)
    }
    await expect(ask(request, { use: 'action', mint: 'yes' })).rejects.toThrow(/mint must be/)
    const minting = ask({ method: 'GET', headers: {} }, { use: 'page', mint: true })
    await expect(minting).rejects.toThrow(TypeError)
    await expect(minting).rejects.toThrow(/mint is not for use 'page'.*use 'action'/)
    await close()
  })

  it('names of headers in another case say the same', async () => {
    const host = await openHost()
    const { cookie, id } = await signedInPerson(host, 'client')
    const post = (headers: Record<string, string>) =>
      host.auth.client.sessionOf({ method: 'POST', headers }, { use: 'action' })
    const found = await post({ Cookie: cookie, Origin: 'https://app.example.com' })
    expect(found?.user.id).toBe(id)
    for (const headers of [
      { cookie, Origin: 'https://shop.example.com' },
      { cookie, 'Sec-Fetch-Site': 'cross-site' },
    ]) {
      await expect(post(headers)).rejects.toMatchObject({ code: 'csrf_rejected' })
    }
  })

  const forms: readonly (readonly [string, (headers: Given) => unknown])[] = [
    ['web headers', (given) => new Headers(given)],
    ['an object', (given) => ({ ...given })],
    ['an object without prototype', (given) => Object.assign(Object.create(null), given)],
    ['names in capitals', (given) => renamed(given, (name) => name.toUpperCase())],
    // As an object looks that was made of optional parts.
    [
      'names that have no value in the usual case',
      (given) => ({
        ...renamed(given, () => undefined, 'value'),
        ...renamed(given, (name) => name.toUpperCase()),
      }),
    ],
    [
      'names that are null in the usual case',
      (given) => ({
        ...renamed(given, () => null, 'value'),
        ...renamed(given, (name) => name.toUpperCase()),
      }),
    ],
    ['values in lists', (given) => renamed(given, (value) => [value], 'value')],
    ['a Map with capitals', (given) => new Map(Object.entries(renamed(given, capital)))],
    ['pairs with capitals', (given) => Object.entries(renamed(given, capital))],
  ]

  it.each(forms)('headers are read from %s', async (_what, formOf) => {
    const host = await openHost()
    const { cookie, id } = await signedInPerson(host, 'client')
    const act = (headers: Given) =>
      host.auth.client.sessionOf(
        // @ts-expect-error JavaScript lets a host give null too.
        { method: 'POST', headers: formOf(headers) },
        { use: 'action' },
      )
    const found = await act({ cookie, origin: 'https://app.example.com' })
    expect(found?.user.id).toBe(id)
    for (const foreign of [
      { cookie, origin: 'https://shop.example.com' },
      { cookie, origin: '' },
      { cookie, 'sec-fetch-site': 'cross-site' },
    ]) {
      await expect(act(foreign), JSON.stringify(foreign)).rejects.toMatchObject({
        code: 'csrf_rejected',
      })
    }
  })

  it('a header that is there under two names has both values, as where it came twice', async () => {
    const host = await openHost()
    const { cookie, id } = await signedInPerson(host, 'client')
    const act = (headers: Given) =>
      host.auth.client.sessionOf({ method: 'POST', headers }, { use: 'action' })
    const origin = 'https://app.example.com'
    const found = await act({ cookie: 'theme=dark', Cookie: cookie, origin })
    expect(found?.user.id).toBe(id)
    for (const order of [
      { origin, Origin: 'https://shop.example.com' },
      { Origin: 'https://shop.example.com', origin },
    ]) {
      await expect(act({ cookie, ...order })).rejects.toMatchObject({ code: 'csrf_rejected' })
    }
  })

  it('headers in a list without names are told, and not read as none', async () => {
    const host = await openHost()
    // @ts-expect-error As Node's `rawHeaders`.
    const asked = host.auth.client.sessionOf({ method: 'GET', headers: ['Cookie', 'x=y'] }, page)
    await expect(asked).rejects.toThrow(/pairs of name and value/)
  })

  it('facts of a page are no principal, neither by type nor at run time', async () => {
    const host = await openHost({ authorizer: { check: async () => true } })
    const { cookie, bearer } = await signedInPerson(host, 'client')
    const { client } = host.auth
    const facts = await client.sessionOf({ method: 'GET', headers: { cookie } }, page)
    if (facts === null) throw new Error('not found')
    const principal = await client.authenticate(`Bearer ${bearer}`)
    await client.requirePermission(principal, 'orders.read')
    // @ts-expect-error A cookie alone proved it.
    const permitted = client.requirePermission(facts, 'orders.read')
    await expect(permitted).rejects.toThrow(/what sessionOf gives is none/)
    // @ts-expect-error A cookie alone proved it.
    const proved = client.requireStepUp(facts, { maxAgeMs: 60_000 })
    await expect(proved).rejects.toThrow(/what sessionOf gives is none/)
    // Nor by giving them the names of a principal.
    const { id: userId } = facts.user
    const dressed = { ...facts, userId, kind: '', sessionId: facts.session.id } as const
    // @ts-expect-error There are no claims.
    await expect(client.requirePermission(dressed, 'orders.read')).rejects.toThrow(TypeError)
  })

  it('a principal of the other surface is refused where a cast lets it in', async () => {
    const host = await openHost({ authorizer: { check: async () => true } })
    const { bearer } = await signedInPerson(host, 'client')
    const principal = await host.auth.client.authenticate(`Bearer ${bearer}`)
    const { operator } = host.auth
    const mismatch = { status: 401, code: 'audience_mismatch' }
    // @ts-expect-error It is of the other surface.
    const permitted = operator.requirePermission(principal, 'orders.read')
    await expect(permitted).rejects.toMatchObject(mismatch)
    // @ts-expect-error It is of the other surface.
    const proved = operator.requireStepUp(principal, { maxAgeMs: 60_000 })
    await expect(proved).rejects.toMatchObject(mismatch)
  })

  it('types say which use gives what', () => {
    expectTypeOf<PageSession<'client'>>().not.toExtend<Principal<'client'>>()
    expectTypeOf<ConnectionSession>().not.toExtend<Principal>()
    const typed = (auth: Auth, request: Request) => {
      const { sessionOf } = auth.client
      // @ts-expect-error Any origin may ask for a page.
      void sessionOf(request, { use: 'page', mint: true })
      // @ts-expect-error A bare cookie says neither method nor origin.
      void sessionOf('__Host-cl_refresh=x', { use: 'page' })
      // @ts-expect-error What it is for has to be said.
      void sessionOf(request, {})
      return {
        page: sessionOf(request, { use: 'page' }),
        action: sessionOf(request, { use: 'action' }),
        connection: sessionOf(request, { use: 'connection' }),
        minted: sessionOf(request, { use: 'action', mint: true }),
      }
    }
    type Typed = ReturnType<typeof typed>
    expectTypeOf<Awaited<Typed['page']>>().toEqualTypeOf<PageSession<'client'> | null>()
    expectTypeOf<Awaited<Typed['page']>>().not.toExtend<{ access: unknown } | null>()
    expectTypeOf<Awaited<Typed['action']>>().not.toExtend<{ access: unknown } | null>()
    expectTypeOf<Awaited<Typed['minted']>>().toExtend<{ access: unknown } | null>()
    expectTypeOf<Awaited<Typed['connection']>>().toExtend<ConnectionSession<'client'> | null>()
  })
})

describe('hosts and addresses are read as in the HTTP API', () => {
  const surfaces = {
    operator: {
      baseUrl: 'https://admin.example.com',
      cookieDomain: 'example.com',
      hosts: ['ops.internal'],
    },
    client: { baseUrl: 'https://app.example.com', cookieDomain: 'example.com', hosts: [] },
  }

  it('a session is not read on a host of the other surface alone', async () => {
    const host = await memoryHost.start({ surfaces, mount: 'client', trustProxy: 1 })
    const { cookie, id } = await signedInPerson(host, 'client')
    const ask = async (headers: Record<string, string>, url?: string) => {
      const request = { method: 'GET', headers: { cookie, ...headers }, url }
      return (await host.auth.client.sessionOf(request, page))?.user.id
    }
    for (const name of [
      'app.example.com',
      'APP.example.com.',
      'app.example.com:8443',
      'elsewhere.test',
    ]) {
      expect(await ask({ host: name })).toBe(id)
    }
    expect(await ask({ ':authority': 'app.example.com', host: 'admin.example.com' })).toBe(id)
    for (const headers of [
      { host: 'admin.example.com' },
      { host: 'ops.internal' },
      { ':authority': 'admin.example.com', host: 'app.example.com' },
      { host: 'proxy.test', 'x-forwarded-host': 'admin.example.com' },
    ]) {
      await expect(ask(headers)).rejects.toMatchObject({ status: 404, code: 'not_found' })
    }
    const url = 'https://admin.example.com/'
    const byUrl = host.auth.client.sessionOf(new Request(url, { headers: { cookie } }), page)
    await expect(byUrl).rejects.toMatchObject({ code: 'not_found' })
    await host.close()
  })

  it.each([
    [0, '192.0.2.1'],
    [1, '203.0.113.9'],
  ])('%i trusted proxies', async (trustProxy, ip) => {
    const host = await memoryHost.start({ trustProxy })
    const { cookie } = await signedInPerson(host, 'client')
    const request = { method: 'GET', headers: { cookie, 'x-forwarded-for': '203.0.113.9' } }
    await host.auth.client.sessionOf(request, { use: 'page', remoteAddress: '192.0.2.1' })
    expect(eventsOf(host, 'session.viewed')).toMatchObject([{ ip }])
    await host.close()
  })
})
