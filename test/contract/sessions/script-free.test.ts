import { describe, expect, it, onTestFinished } from 'vitest'
import type { PageSession } from '../../../src/index.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { openHost } from '../../support/hosts/open-host.js'
import { person, signedInPerson } from '../../support/people/people.js'
import { pass, sessionOf } from '../events/event-scenario.js'
import { cookieJar, scriptFreeHost } from './script-free-host.js'

const origin = 'https://app.example.com'
const day = 24 * 60 * 60 * 1000

/** A browser without scripts on the host's pages. */
async function browser(host: ContractHost) {
  const running = await scriptFreeHost(host.auth.client)
  onTestFinished(() => running.close())
  const jar = cookieJar()
  const send = async (
    method: string,
    path: string,
    form?: Record<string, string>,
    from = origin,
  ) => {
    const reply = await fetch(`${running.url}${path}`, {
      method,
      redirect: 'manual',
      headers: { cookie: jar.header(), ...(method === 'GET' ? {} : { origin: from }) },
      ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
    })
    jar.store(reply.headers.getSetCookie())
    return {
      status: reply.status,
      to: reply.headers.get('location'),
      text: await reply.text(),
      reply,
    }
  }
  return { jar, send }
}

describe('a host without client script', () => {
  it('is used daily for eight days, and is still signed in', async () => {
    const host = await openHost()
    const { email, password } = await person(host, 'client')
    const { jar, send } = await browser(host)
    expect((await send('GET', '/')).text).toContain('Sign in')
    expect((await send('POST', '/login', { email, password: 'wrong' })).to).toBe(
      '/login?status=401',
    )
    expect((await send('POST', '/login', { email, password })).to).toBe('/')
    for (let at = 1; at <= 8; at += 1) {
      await pass(host, day)
      expect([at, (await send('GET', '/')).text]).toEqual([at, 'Hello, Ada'])
      // The one button of the page: what a form posts here moves the idle window.
      expect((await send('POST', '/stay', {})).to).toBe('/')
      expect((await send('POST', '/notes', { text: 'x' })).status).toBe(201)
    }
    const page = await send('GET', '/')
    expect([page.text, page.reply.headers.get('cache-control')]).toEqual([
      'Hello, Ada',
      'private, no-store',
    ])
    expect((await send('POST', '/logout', {})).to).toBe('/')
    expect(jar.names()).not.toContain('__Host-cl_refresh')
    expect((await send('GET', '/')).text).toContain('Sign in')
  })

  it('… and without that button it is signed out after seven', async () => {
    const host = await openHost()
    const { email, password } = await person(host, 'client')
    const { send } = await browser(host)
    await send('POST', '/login', { email, password })
    for (let at = 1; at <= 6; at += 1) {
      await pass(host, day)
      expect((await send('GET', '/')).text).toBe('Hello, Ada')
    }
    await pass(host, day)
    expect((await send('GET', '/')).text).toContain('Sign in')
    expect((await send('POST', '/stay', {})).to).toBe('/login?status=401')
  })

  it('takes no form that another site posts, not even a login', async () => {
    const host = await openHost()
    const { email, password } = await person(host, 'client')
    const { jar, send } = await browser(host)
    for (const from of ['https://shop.example.com', 'null']) {
      expect((await send('POST', '/login', { email, password }, from)).status).toBe(403)
    }
    expect(jar.names()).toEqual([])
    await send('POST', '/login', { email, password })
    const before = jar.header()
    const mallory = await person(host, 'client')
    for (const from of ['https://shop.example.com', 'null']) {
      expect((await send('POST', '/stay', {}, from)).status).toBe(403)
      expect((await send('POST', '/logout', {}, from)).status).toBe(403)
      expect((await send('POST', '/notes', {}, from)).status).toBe(403)
      // With the password of its own user.
      const { email, password } = mallory
      expect((await send('POST', '/login', { email, password }, from)).status).toBe(403)
    }
    expect(jar.header()).toBe(before)
    expect((await send('GET', '/')).text).toBe('Hello, Ada')
  })
})

describe('a look at the cookie’s name, as middleware at the edge takes it', () => {
  const hasCookie = (cookie: string) => /(?:^|; )__Host-cl_refresh=/.test(cookie)

  it('lets a forged cookie pass, which gets no page and no action', async () => {
    const host = await openHost()
    const { id, refreshToken } = await signedInPerson(host, 'client')
    const [head, payload] = refreshToken.split('.')
    const claims = JSON.parse(Buffer.from(payload ?? '', 'base64url').toString())
    const grown = Buffer.from(JSON.stringify({ ...claims, gen: 9 })).toString('base64url')
    const unsigned = Buffer.from('{"alg":"none","typ":"refresh+jwt"}').toString('base64url')
    for (const value of [
      'x',
      `${head}.${payload}.AAAA`,
      `${head}.${grown}.AAAA`,
      `${unsigned}.${payload}.`,
    ]) {
      const cookie = `__Host-cl_refresh=${value}`
      expect(hasCookie(cookie)).toBe(true)
      const { sessionOf: read } = host.auth.client
      expect(await read({ method: 'GET', headers: { cookie } }, { use: 'page' })).toBeNull()
      const post = { method: 'POST', headers: { cookie, origin } }
      expect(await read(post, { use: 'action', mint: true })).toBeNull()
    }
    // Nor is anything of the session harmed by it.
    const cookie = `__Host-cl_refresh=${refreshToken}`
    const found: PageSession | null = await host.auth.client.sessionOf(
      { method: 'GET', headers: { cookie } },
      { use: 'page' },
    )
    expect([found?.user.id, found?.session.id]).toEqual([id, sessionOf(refreshToken)])
  })
})

describe('a host that is given headers and cookies apart, as Next.js gives them', () => {
  /** `headers()` and `cookies()` of one request, and what the action set. */
  function nextRequest(cookie: string) {
    const set: string[] = []
    return {
      headers: new Headers({ cookie, origin, 'sec-fetch-site': 'same-origin' }),
      cookies: {
        set: (name: string, value: string, options: { readonly maxAge: number }) =>
          void set.push(`${name}=${value}; Max-Age=${options.maxAge}`),
      },
      set,
    }
  }

  it('an action forwards each Set-Cookie, and the next request is signed in by it', async () => {
    const host = await openHost()
    const { id, cookie } = await signedInPerson(host, 'client')
    const action = nextRequest(cookie)
    const reply = await host.auth.client.handle({
      method: 'POST',
      path: '/v1/auth/client/refresh-cookie',
      query: '',
      header: (name) => action.headers.get(name) ?? undefined,
      remoteAddress: undefined,
      body: async () => ({ kind: 'empty' }),
    })
    for (const line of reply?.cookies ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      action.cookies.set(name, value, { maxAge: Number(/Max-Age=(\d+)/.exec(line)?.[1]) })
    }
    const jar = cookieJar()
    jar.store(action.set)
    expect(jar.names()).toEqual(['__Host-cl_refresh', '__Host-cl_signed_in'])
    await pass(host, 11_000)
    const next = nextRequest(jar.header())
    const render = { method: 'GET', headers: next.headers }
    expect((await host.auth.client.sessionOf(render, { use: 'page' }))?.user.id).toBe(id)
    const old = { method: 'GET', headers: nextRequest(cookie).headers }
    expect(await host.auth.client.sessionOf(old, { use: 'page' })).toBeNull()
  })
})
