import { describe, expect, it } from 'vitest'
import { createClient } from '../../src/client/index.js'
import { base, grant, json, refusal, scriptedPage, session, user } from './scripted-page.js'

const name = `postern:${base}`
const marker = '__Host-cl_signed_in=1'
const eve = { ...user, id: 'u2', email: 'eve@example.org' }
const hint = { v: 1, surface: 'client', kind: 'session' }

/** A page of the API's own origin, whose scripts see the marker. */
function opened(cookie: string | null = marker, pageUrl = 'https://api.example.com/page') {
  const page = scriptedPage()
  page.cookie = cookie
  const environment = { ...page.environment, pageUrl }
  const client = createClient({
    surface: 'client',
    baseUrl: 'https://api.example.com',
    environment,
  })
  return { page, client }
}

async function signedIn(cookie: string | null = marker) {
  const { page, client } = opened(cookie)
  page.stored.set(name, `${page.clock.now()},0`)
  page.expects(['GET /session', session()])
  await client.restore()
  page.told.splice(0)
  return { page, client }
}

describe('a page that comes into view', () => {
  it('asks once whether the session goes on, and shows nobody after a sign-out elsewhere', async () => {
    const { page, client } = await signedIn()
    page.cookie = ''
    page.expects(['GET /session', refusal(401)])
    page.show(false)
    page.show(true)
    await page.clock.advance(0)
    expect(client.get()).toEqual({ status: 'signedOut', reason: null })
    expect(page.told).toEqual([hint])
  })

  it('asks every five seconds at most, and always where it comes from the back-forward cache', async () => {
    const { page, client } = await signedIn()
    page.expects(['GET /session', session('b')])
    page.show(false)
    await page.clock.advance(4999)
    page.show(false)
    page.expects(['GET /session', session('c')])
    page.show(true)
    await page.clock.advance(5000)
    page.expects(['GET /session', session('d', eve)])
    page.show(false)
    await page.clock.advance(0)
    expect(client.get()).toEqual({ status: 'signedIn', user: eve })
    expect(page.told).toEqual([hint])
  })

  it('asks without a user only where a marker says that somebody signed in', async () => {
    const { page, client } = opened('')
    await client.restore()
    page.show(true)
    await page.clock.advance(0)
    page.cookie = `other=1; ${marker}`
    page.expects(['GET /session', session()])
    page.show(true)
    await page.clock.advance(0)
    expect(client.get()).toEqual({ status: 'signedIn', user })
  })

  it('asks nothing before the first restore', async () => {
    const { page } = opened()
    page.show(true)
    await page.clock.advance(0)
  })
})

describe('a page that is loaded', () => {
  it('tells the other tabs where it finds somebody else, or nobody, and only then', async () => {
    const { page, client } = await signedIn()
    page.expects(['GET /session', session('b')])
    await client.restore()
    expect(page.told).toEqual([])
    page.expects(['GET /session', session('c', eve)])
    await client.restore()
    expect(page.told).toEqual([hint])
    const { environment } = page
    const next = createClient({
      surface: 'client',
      baseUrl: 'https://api.example.com',
      environment,
    })
    page.expects(['GET /session', refusal(401, 'session_revoked')])
    await next.restore()
    expect(page.told).toEqual([hint, hint])
  })

  it.each([
    ['nothing is known of a session', ''],
    ['the marker was seen before', '1893456000000,0,0,1'],
  ])('does not ask without a marker, where %s', async (_, stored) => {
    const { page, client } = opened('theme=dark')
    page.stored.set(name, stored)
    expect(await client.restore()).toEqual({ status: 'signedOut', reason: null })
  })

  it.each([
    ['the cookie may be older than the marker', '', '1893456000000,0', undefined],
    ['it is of another origin', '', '1893456000000,0', 'https://app.example.com/page'],
    ['scripts see no cookies', null, '1893456000000,0', undefined],
    ['only the other surface has a marker', 'op_signed_in=1', '1893456000000,0', undefined],
  ])('asks as before where %s', async (_, cookie, stored, pageUrl) => {
    const { page, client } = opened(cookie, pageUrl)
    page.stored.set(name, stored)
    page.expects(['GET /session', session()])
    expect(await client.restore()).toEqual({ status: 'signedIn', user })
  })

  it('finishes a rotation without a reply also where the marker is gone', async () => {
    const { page, client } = opened('')
    page.stored.set(name, `1893456000000,${page.clock.now()},10404,1`)
    page.expects(['POST /refresh-cookie', grant()], ['GET /session', session()])
    expect(await client.restore()).toEqual({ status: 'signedIn', user })
  })

  it('asks nothing when another tab signed out', async () => {
    const { page, client } = await signedIn()
    page.cookie = ''
    page.hear(hint)
    await page.clock.advance(0)
    expect(client.get()).toEqual({ status: 'signedOut', reason: null })
    expect(page.told).toEqual([])
  })
})

describe('a 401 that is not the library\u2019s', () => {
  const type = { 'content-type': 'application/problem+json' }
  it.each([
    ['JSON', json(401, { status: 401, title: 'No', detail: 'No.' })],
    [
      'a problem with a type',
      json(401, { status: 401, title: 'No', detail: '', type: 'a:b' }, type),
    ],
    ['a code of its own', refusal(401, 'token_expired_at_gateway')],
  ])('signs nobody out: %s', async (_, reply) => {
    const { page, client } = await signedIn()
    page.expects(['GET /session', reply])
    page.show(true)
    await page.clock.advance(0)
    await page.clock.advance(14 * 60_000)
    page.expects(['POST /refresh-cookie', reply], ['GET /me', json(200, { id: 'u1' })])
    await client.call('GET /me')
    expect(client.get()).toEqual({ status: 'signedIn', user })
  })
})
