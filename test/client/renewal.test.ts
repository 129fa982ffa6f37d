import { describe, expect, it } from 'vitest'
import { createClient } from '../../src/client/index.js'
import {
  base,
  grant,
  json,
  lost,
  refusal,
  type ScriptedPage,
  scriptedPage,
  session,
  tokenOf,
  user,
} from './scripted-page.js'

const minute = 60_000
const name = `postern:${base}`

function clientOf(page: ScriptedPage) {
  const { environment } = page
  return createClient({ surface: 'client', baseUrl: 'https://api.example.com', environment })
}

/** A signed-in page, restored at a time when the cookie was new. */
async function restored() {
  const page = scriptedPage()
  page.stored.set(name, `${page.clock.now()},0`)
  const client = clientOf(page)
  page.expects(['GET /session', session()])
  expect(await client.restore()).toEqual({ status: 'signedIn', user })
  page.seen.splice(0)
  page.told.splice(0)
  return { page, client }
}

/** The same, with a token that is about to expire. */
async function due() {
  const { page, client } = await restored()
  await page.clock.advance(14 * minute)
  return { page, client }
}

/** Of the last rotation, and of one without a reply. */
const timesOf = ({ stored }: ScriptedPage) => stored.get(name)?.split(',', 2).join()

const me = json(200, { id: 'u1' })

/** A server that takes its time: `replies` are what its requests wait for, in order. */
function slowReplies() {
  const replies: ((response: Response) => void)[] = []
  const slow = ({ signal }: Request) =>
    new Promise<Response>((resolve, reject) => {
      replies.push(resolve)
      signal.addEventListener('abort', () => reject(signal.reason))
    })
  return { replies, slow }
}

const bearers = ({ seen }: ScriptedPage) => seen.map(({ headers }) => headers.get('authorization'))

describe('restore', () => {
  it('is loading before, and asks no server until it is called', () => {
    expect(clientOf(scriptedPage()).get()).toEqual({ status: 'loading' })
  })

  it('shares one request among those who call at once, under the lock of API and surface', async () => {
    const page = scriptedPage()
    page.stored.set(name, `${page.clock.now()},0`)
    const client = clientOf(page)
    page.expects(['GET /session', session()])
    await Promise.all([client.restore(), client.restore()])
    expect(page.locked).toEqual([name])
    expect(page.seen[0]?.credentials).toBe('include')
  })

  it.each([
    [undefined, null],
    ['session_revoked', 'session_revoked'],
    ['refresh_token_expired', 'refresh_token_expired'],
  ])('ends signed out after a 401 with the code %s', async (code, reason) => {
    const page = scriptedPage()
    const client = clientOf(page)
    page.expects(['GET /session', refusal(401, code)])
    expect(await client.restore()).toEqual({ status: 'signedOut', reason })
  })

  it.each([
    ['no reply', lost, 'network'],
    ['a 401 that is not the library’s', () => new Response('<html>', { status: 401 }), 'problem'],
    ['a 200 that cannot be read', () => new Response('<html>'), 'problem'],
    ['a 429', refusal(429, 'rate_limited'), 'problem'],
    ['a 500', refusal(500, 'internal_error'), 'problem'],
  ])('rejects and stays loading after %s', async (_, reply, kind) => {
    const page = scriptedPage()
    const client = clientOf(page)
    page.expects(['GET /session', reply])
    await expect(client.restore()).rejects.toMatchObject({ name: 'PosternError', kind })
    expect(client.get()).toEqual({ status: 'loading' })
  })

  it('waits twice for a 503, as long as it asks for, and then rejects', async () => {
    const page = scriptedPage()
    const client = clientOf(page)
    const away = refusal(503, 'session_enforcement_unavailable', {}, { 'retry-after': '60' })
    page.expects(['GET /session', away], ['GET /session', away], ['GET /session', away])
    const outcome = expect(client.restore()).rejects.toMatchObject({ status: 503, retryAfter: 60 })
    await page.clock.advance(4999)
    expect(page.seen).toHaveLength(1)
    await page.clock.advance(5001)
    await outcome
    expect(client.get()).toEqual({ status: 'loading' })
  })

  it('takes a reply that is slow', async () => {
    const page = scriptedPage()
    page.stored.set(name, `${page.clock.now()},0`)
    const { replies, slow } = slowReplies()
    page.expects(['GET /session', slow])
    const state = clientOf(page)
      .restore()
      .catch(({ kind }) => kind)
    await page.clock.advance(9000)
    replies[0]?.(session()())
    expect(await state).toEqual({ status: 'signedIn', user })
  })

  it('asks a page that was signed out as well, where a rotation was not answered', async () => {
    const page = scriptedPage()
    const client = clientOf(page)
    page.expects(['GET /session', refusal(401)])
    await client.restore()
    page.stored.set(name, `${page.clock.now()},${page.clock.now()}`)
    page.expects(['POST /refresh-cookie', grant()], ['GET /session', session('b')])
    expect(await client.restore()).toEqual({ status: 'signedIn', user })
  })

  it('gives up waiting by its signal', async () => {
    const page = scriptedPage()
    page.expects(['GET /session', refusal(503, 'service_unavailable')])
    const given = new AbortController()
    const outcome = clientOf(page).restore({ signal: given.signal })
    const settled = expect(outcome).rejects.toMatchObject({ kind: 'abort', cause: 'enough' })
    await page.clock.advance(10)
    given.abort('enough')
    await settled
  })

  it('rotates at once where a rotation was begun and not answered', async () => {
    const page = scriptedPage()
    page.stored.set(name, `${page.clock.now() - minute},${page.clock.now() - 1000}`)
    const client = clientOf(page)
    page.expects(['POST /refresh-cookie', grant()], ['GET /session', session('b')])
    expect(await client.restore()).toMatchObject({ status: 'signedIn' })
    expect(timesOf(page)).toBe(`${page.clock.now()},0`)
  })

  it.each([
    ['nothing is known of the last rotation', ''],
    ['half the idle window is gone', `${Date.UTC(2029, 11, 24) - 1},0`],
  ])('rotates once where %s', async (_, note) => {
    const page = scriptedPage()
    if (note !== '') page.stored.set(name, note)
    const client = clientOf(page)
    page.expects(['GET /session', session()], ['POST /refresh-cookie', grant('b')])
    await client.restore()
    await page.clock.advance(0)
    page.expects(['GET /me', me])
    await client.call('GET /me')
    expect(bearers(page).at(-1)).toBe(`Bearer ${tokenOf('u1', 'b')}`)
  })

  it('works without locks, storage and channel, and with a storage that throws', async () => {
    const throwing = { getItem: lost, setItem: lost }
    for (const storage of [null, throwing]) {
      const page = scriptedPage()
      const environment = { ...page.environment, locks: null, channel: null, storage }
      const client = createClient({
        surface: 'client',
        baseUrl: 'https://api.example.com',
        environment,
      })
      page.expects(['GET /session', session()], ['POST /refresh-cookie', grant('b')])
      await client.restore()
      await page.clock.advance(0)
      page.expects(['GET /me', me], ['GET /me', me])
      await Promise.all([client.call('GET /me'), client.call('GET /me')])
    }
  })
})

describe('a token that is about to expire', () => {
  it('is renewed by one rotation for all calls, kept alive beyond the page', async () => {
    const { page, client } = await due()
    page.expects(['POST /refresh-cookie', grant('b')], ['GET /me', me], ['GET /mfa', me])
    await Promise.all([client.call('GET /me'), client.call('GET /mfa')])
    expect(page.seen[0]?.keepalive).toBe(true)
    expect(bearers(page).slice(1)).toEqual(Array(2).fill(`Bearer ${tokenOf('u1', 'b')}`))
  })

  it('is renewed by GET /session after another tab rotated', async () => {
    const { page, client } = await due()
    page.stored.set(name, `${page.clock.now() - 1},0`)
    page.expects(['GET /session', session('b')], ['GET /me', me])
    await client.call('GET /me')
    expect(bearers(page)[1]).toBe(`Bearer ${tokenOf('u1', 'b')}`)
  })

  it('repeats a rotation whose reply is lost at once and then each second, and notes it', async () => {
    const { page, client } = await due()
    const unreadable = () => new Response('<html>')
    const gateway = () => new Response('', { status: 502 })
    page.expects(['POST /refresh-cookie', lost], ['POST /refresh-cookie', unreadable])
    page.expects(['POST /refresh-cookie', gateway], ['POST /refresh-cookie', grant('b')])
    page.expects(['GET /me', me])
    const call = client.call('GET /me')
    await page.clock.advance(999)
    expect(page.seen).toHaveLength(2)
    expect(timesOf(page)).toBe(`${Date.UTC(2030, 0, 1)},${page.clock.now() - 999}`)
    await page.clock.advance(1001)
    await call
    expect(timesOf(page)).toBe(`${page.clock.now()},0`)
  })

  it('stops repeating after nine seconds; the call is rejected, and the session goes on', async () => {
    const { page, client } = await due()
    await page.clock.advance(2 * minute)
    page.expects(...Array(10).fill(['POST /refresh-cookie', lost]))
    page.expects(['POST /refresh-cookie', lost])
    const outcome = expect(client.call('GET /me')).rejects.toMatchObject({ kind: 'network' })
    await page.clock.advance(9000)
    await outcome
    expect(client.get()).toEqual({ status: 'signedIn', user })
    page.expects(['POST /refresh-cookie', grant('b')], ['GET /me', me])
    await client.call('GET /me')
  })

  it('counts a reply that takes five seconds as lost', async () => {
    const { page, client } = await due()
    page.expects(['POST /refresh-cookie', slowReplies().slow], ['POST /refresh-cookie', grant('b')])
    page.expects(['GET /me', me])
    const call = client.call('GET /me')
    await page.clock.advance(5000)
    await call
    // One at a time: the later one would show what the browser has from the earlier one, and rotate again.
    expect(page.seen[0]?.signal.aborted).toBe(true)
  })

  it('still serves while it is good, where the rotation is refused', async () => {
    const { page, client } = await due()
    page.expects(['POST /refresh-cookie', refusal(429, 'rate_limited')], ['GET /me', me])
    await client.call('GET /me')
    expect(timesOf(page)).toBe(`${Date.UTC(2030, 0, 1)},0`)
  })

  it('of another user is not used while this one is shown', async () => {
    const { page, client } = await due()
    const other = { ...user, id: 'u2' }
    page.expects(['POST /refresh-cookie', grant('b', 'u2')], ['GET /session', session('c', other)])
    await expect(client.call('GET /me')).rejects.toMatchObject({ kind: 'abort' })
    expect(client.get()).toEqual({ status: 'signedIn', user: other })
  })

  it('goes on without the lock after thirty seconds', async () => {
    const { page, client } = await due()
    void page.environment.locks?.request('x', { signal: new AbortController().signal }, () => {
      return new Promise(() => {})
    })
    page.expects(['POST /refresh-cookie', grant('b')], ['GET /me', me])
    const call = client.call('GET /me')
    await page.clock.advance(29_999)
    expect(page.seen).toEqual([])
    await page.clock.advance(1)
    await call
  })
})

describe('a 401', () => {
  it('without a code is met by one renewal and one repeat', async () => {
    const { page, client } = await restored()
    page.expects(['GET /me', refusal(401)], ['POST /refresh-cookie', grant('b')], ['GET /me', me])
    await client.call('GET /me')
    page.expects(['GET /me', refusal(401)], ['POST /refresh-cookie', grant('c')])
    page.expects(['GET /me', refusal(401)])
    await expect(client.call('GET /me')).rejects.toMatchObject({ status: 401, code: '' })
    expect(client.get().status).toBe('signedIn')
  })

  it.each([
    'session_revoked',
    'session_max_age_reached',
    'refresh_token_invalid',
    'refresh_token_expired',
    'refresh_token_reused',
  ])('with the code %s ends the session, and tells other tabs no more than that', async (code) => {
    const { page, client } = await restored()
    page.expects(['GET /me', refusal(401, code)])
    await expect(client.call('GET /me')).rejects.toMatchObject({ code })
    expect(client.get()).toEqual({ status: 'signedOut', reason: code })
    expect(page.told).toEqual([{ v: 1, surface: 'client', kind: 'session' }])
  })

  it.each(['audience_mismatch', 'invalid_credentials', 'invalid_mfa_code', 'mfa_ticket_invalid'])(
    'with the code %s signs nobody out',
    async (code) => {
      const { page, client } = await restored()
      page.expects(['GET /me', refusal(401, code)])
      await expect(client.call('GET /me')).rejects.toMatchObject({ code })
      expect(client.get().status).toBe('signedIn')
    },
  )

  it('to a rotation ends the session with its reason', async () => {
    const { page, client } = await due()
    page.expects(['POST /refresh-cookie', refusal(401, 'refresh_token_reused')])
    await expect(client.call('GET /me')).rejects.toMatchObject({ code: 'refresh_token_reused' })
    expect(client.get()).toEqual({ status: 'signedOut', reason: 'refresh_token_reused' })
    expect(timesOf(page)).toBe('0,0')
  })
})

describe('what another tab says', () => {
  it('is asked of the server before anything changes', async () => {
    const { page, client } = await restored()
    page.expects(['GET /session', session('b')])
    page.hear({ v: 1, surface: 'client', kind: 'session' })
    await page.clock.advance(0)
    expect(client.get()).toEqual({ status: 'signedIn', user })
    page.expects(['GET /session', refusal(401)])
    page.hear({ v: 1, surface: 'client', kind: 'session' })
    await page.clock.advance(0)
    expect(client.get()).toEqual({ status: 'signedOut', reason: null })
    expect(page.told).toEqual([])
  })

  it('of another surface or version, or of no known form, is nothing', async () => {
    const { page } = await restored()
    page.hear({ v: 1, surface: 'operator', kind: 'session' })
    page.hear({ v: 2, surface: 'client', kind: 'session' })
    page.hear(null)
    page.hear('session')
    await page.clock.advance(0)
  })

  it('of a rotation makes this tab finish it, where the other went away amid it', async () => {
    const { page } = await restored()
    page.hear({ v: 1, surface: 'client', kind: 'rotation' })
    await page.clock.advance(0)
    page.stored.set(name, `${page.clock.now()},${page.clock.now()}`)
    page.expects(['POST /refresh-cookie', grant('b')])
    page.hear({ v: 1, surface: 'client', kind: 'rotation' })
    page.hear({ v: 1, surface: 'client', kind: 'rotation' })
    await page.clock.advance(0)
    expect(page.told).toEqual([])
    // The server no longer takes what the cookie was before that.
    page.stored.set(name, `${page.clock.now()},${page.clock.now() - 10_000}`)
    page.hear({ v: 1, surface: 'client', kind: 'rotation' })
    await page.clock.advance(0)
  })
})
