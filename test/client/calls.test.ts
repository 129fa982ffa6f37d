import { describe, expect, it, vi } from 'vitest'
import { createClient, isPosternError, type StepUpChallenge } from '../../src/client/index.js'
import {
  base,
  grant,
  json,
  lost,
  refusal,
  scriptedPage,
  session,
  tokenOf,
  user,
} from './scripted-page.js'

const empty = () => new Response(null, { status: 204 })
const login = json(200, {
  status: 'authenticated',
  accessToken: tokenOf('u1', 'l'),
  tokenType: 'Bearer',
  expiresIn: 900,
  user,
})

async function signedIn(onStepUp?: (challenge: StepUpChallenge) => Promise<void>) {
  const page = scriptedPage()
  const { environment } = page
  const client = createClient({
    surface: 'client',
    baseUrl: 'https://api.example.com/',
    environment,
    ...(onStepUp ? { onStepUp } : {}),
  })
  page.expects(['GET /session', refusal(401)], ['POST /login', login])
  await client.call('POST /login', { email: 'ada@example.org', password: 'x' })
  page.seen.splice(0)
  return { page, client }
}

describe('call', () => {
  it('sends a body, signs in by the reply, and notes that the cookie is new', async () => {
    const { page, client } = await signedIn()
    expect(client.get()).toEqual({ status: 'signedIn', user })
    expect(page.stored.get(`postern:${base}`)).toMatch(new RegExp(`^${page.clock.now()},0,`))
    page.expects(['PATCH /me', json(200, { id: 'u1' })], ['GET /session', session()])
    expect(await client.call('PATCH /me', { name: 'Ada L' })).toEqual({ id: 'u1' })
    const [patch] = page.seen
    expect(patch?.headers.get('authorization')).toBe(`Bearer ${tokenOf('u1', 'l')}`)
    expect(await patch?.json()).toEqual({ name: 'Ada L' })
  })

  it('reads the account again once a mailed link confirmed its address', async () => {
    const { page, client } = await signedIn()
    const seen: unknown[] = []
    client.onChange((state) => seen.push(state))
    const moved = { ...user, email: 'ada@example.net' }
    page.expects(['POST /email/verify', empty], ['GET /session', session('b', moved)])
    await client.call('POST /email/verify', { token: 't' })
    expect(client.get()).toEqual({ status: 'signedIn', user: moved })
    expect(seen).toEqual([{ status: 'signedIn', user: moved }])
    expect(page.told).toContainEqual({ v: 1, surface: 'client', kind: 'session' })
  })

  it('asks for no account after a link that was opened without a session', async () => {
    const { page, client } = await signedIn()
    page.expects(['POST /logout', empty], ['POST /email/verify', empty])
    await client.call('POST /logout')
    await client.call('POST /email/verify', { token: 't' })
    expect(client.get()).toEqual({ status: 'signedOut', reason: null })
    expect(page.seen.map(({ url }) => new URL(url).pathname).at(-1)).toMatch(/verify$/)
  })

  it('takes names in the path from the input, escaped, and none that names another path', async () => {
    const { page, client } = await signedIn()
    page.expects(['DELETE /devices/a%2Fb%20c', empty])
    expect(await client.call('DELETE /devices/{deviceId}', { deviceId: 'a/b c' })).toBeNull()
    for (const deviceId of ['', '.', '..']) {
      const outcome = client.call('DELETE /devices/{deviceId}', { deviceId })
      await expect(outcome).rejects.toThrow('"deviceId" is not a name')
    }
  })

  it('reaches administrative paths of the operator surface, with a query', async () => {
    const page = scriptedPage()
    const client = createClient({
      surface: 'operator',
      baseUrl: 'https://api.example.com/pre',
      environment: page.environment,
    })
    const at = 'https://api.example.com/pre/v1'
    page.expects([`GET ${at}/auth/operator/session`, session()])
    page.expects([`POST ${at}/auth/operator/refresh-cookie`, grant()])
    page.expects([`GET ${at}/admin/service-accounts?limit=5`, json(200, { items: [] })])
    await client.call('GET /v1/admin/service-accounts', { limit: '5' })
  })

  it('rejects with one union of errors', async () => {
    const { page, client } = await signedIn()
    page.expects(['POST /me/email', lost])
    const failed = await client.call('POST /me/email', { newEmail: 'b@example.org' }).catch(String)
    expect(failed).toContain('no reply')
    page.expects([
      'POST /password/reset',
      refusal(422, 'password_policy', { violations: ['tooShort'], field: 'newPassword' }),
    ])
    const error: unknown = await client
      .call('POST /password/reset', { token: 't', newPassword: 'p' })
      .catch((reason: unknown) => reason)
    if (!isPosternError(error) || error.kind !== 'problem') throw error
    const { status, code, detail, violations, field, retryAfter, maxAgeSeconds } = error
    expect({ status, code, detail, violations, field, retryAfter, maxAgeSeconds }).toEqual({
      status: 422,
      code: 'password_policy',
      detail: 'No.',
      violations: ['tooShort'],
      field: 'newPassword',
      retryAfter: null,
      maxAgeSeconds: null,
    })
  })

  it('is given up by its signal, apart from a network failure', async () => {
    const { page, client } = await signedIn()
    const given = new AbortController()
    page.expects([
      'GET /me',
      () => {
        given.abort('enough')
        throw given.signal.reason
      },
    ])
    const outcome = client.call('GET /me', {}, { signal: given.signal })
    await expect(outcome).rejects.toMatchObject({ kind: 'abort', cause: 'enough' })
  })

  it('is not sent once another user signed in while it waited for its turn', async () => {
    const { page, client } = await signedIn()
    const other = { ...user, id: 'u2' }
    const asOther = { status: 'authenticated', accessToken: tokenOf('u2'), expiresIn: 900 }
    page.expects(['POST /login', json(200, { ...asOther, user: other })])
    const login = client.call('POST /login', { email: 'bob@example.org', password: 'x' })
    // With the token of the one and the cookie of the other, it would sign both out.
    const logout = client.call('POST /logout')
    await expect(logout).rejects.toMatchObject({ kind: 'abort' })
    await login
    expect(client.get()).toEqual({ status: 'signedIn', user: other })
  })

  it('waits out the 503 before which nothing was done, and no other', async () => {
    const { page, client } = await signedIn()
    page.expects(['GET /me', refusal(503, 'session_enforcement_unavailable')])
    page.expects(['GET /me', json(200, { id: 'u1' })])
    const call = client.call('GET /me')
    await page.clock.advance(1000)
    await call
    page.expects(['POST /me/email', refusal(503, 'service_unavailable')])
    const other = client.call('POST /me/email', { newEmail: 'b@example.org' })
    const refused = expect(other).rejects.toMatchObject({ status: 503 })
    await page.clock.advance(5000)
    await refused
    expect(client.get().status).toBe('signedIn')
  })

  it('signs out', async () => {
    const { page, client } = await signedIn()
    page.expects(['POST /logout', empty])
    await client.call('POST /logout')
    expect(client.get()).toEqual({ status: 'signedOut', reason: null })
    page.expects(['POST /login', refusal(401, 'invalid_credentials')])
    const again = client.call('POST /login', { email: 'ada@example.org', password: 'y' })
    await expect(again).rejects.toMatchObject({ code: 'invalid_credentials' })
    expect(page.seen.at(-1)?.headers.has('authorization')).toBe(false)
  })

  it('stays signed in where the sign-out failed', async () => {
    const { page, client } = await signedIn()
    page.expects(['POST /logout', lost])
    await expect(client.call('POST /logout')).rejects.toMatchObject({ kind: 'network' })
    expect(client.get().status).toBe('signedIn')
  })

  it('asks who is signed in after the account was deleted', async () => {
    const { page, client } = await signedIn()
    page.expects(['DELETE /me', empty], ['GET /session', refusal(401, 'session_revoked')])
    await client.call('DELETE /me')
    expect(client.get()).toEqual({ status: 'signedOut', reason: 'session_revoked' })
  })

  it('refreshes right after a change of the password, before anything else uses the cookie', async () => {
    const { page, client } = await signedIn()
    let isStored = false
    page.expects(['POST /me/password', empty])
    page.expects([
      'POST /refresh-cookie',
      async () => {
        await new Promise<void>((resolve) => page.clock.after(300, resolve))
        isStored = true
        return grant('b')()
      },
    ])
    page.expects(['GET /session', () => (isStored ? session('c')() : lost())])
    const change = client.call('POST /me/password', { currentPassword: 'x', newPassword: 'y' })
    await page.clock.advance(10)
    page.hear({ v: 1, surface: 'client', kind: 'session' })
    await page.clock.advance(300)
    await change
    await page.clock.advance(0)
  })
})

describe('a step-up', () => {
  it('is proved by the hook, once, and the call is repeated', async () => {
    const challenged = refusal(403, 'step_up_required', { maxAgeSeconds: 300 })
    const hook = vi.fn(async ({ maxAgeSeconds }: StepUpChallenge) => {
      expect(maxAgeSeconds).toBe(300)
      await client.call('POST /step-up', { method: 'totp', code: '123456' })
    })
    const { page, client } = await signedIn(hook)
    page.expects(['DELETE /mfa/totp', challenged], ['POST /step-up', json(200, {})])
    page.expects(['DELETE /mfa/totp', empty])
    await client.call('DELETE /mfa/totp')
    page.expects(['DELETE /mfa/totp', challenged], ['POST /step-up', json(200, {})])
    page.expects(['DELETE /mfa/totp', challenged])
    await expect(client.call('DELETE /mfa/totp')).rejects.toMatchObject({ maxAgeSeconds: 300 })
    expect(hook).toHaveBeenCalledTimes(2)
  })

  it('is the caller’s where there is no hook, or where the hook rejects', async () => {
    const plain = await signedIn()
    plain.page.expects(['DELETE /mfa/totp', refusal(403, 'step_up_required')])
    const refused = plain.client.call('DELETE /mfa/totp')
    await expect(refused).rejects.toMatchObject({ code: 'step_up_required' })
    const { page, client } = await signedIn(() => Promise.reject(new Error('cancelled')))
    page.expects(['DELETE /mfa/totp', refusal(403, 'step_up_required')])
    await expect(client.call('DELETE /mfa/totp')).rejects.toThrow('cancelled')
  })
})

describe('authFetch', () => {
  const orders = 'https://api.example.com/orders'
  const done = json(200, { done: true })

  it('carries the token to the API alone, and follows no redirect', async () => {
    const { page, client } = await signedIn()
    page.expects([`GET ${orders}`, done], ['GET https://other.example.com/x', done])
    await client.authFetch(orders)
    await client.authFetch('https://other.example.com/x')
    const [own, other] = page.seen
    expect(own?.headers.get('authorization')).toBe(`Bearer ${tokenOf('u1', 'l')}`)
    expect(own?.redirect).toBe('error')
    expect(other?.headers.has('authorization')).toBe(false)
  })

  it('repeats after a plain 401 what can be sent again', async () => {
    const { page, client } = await signedIn()
    page.expects([`POST ${orders}`, refusal(401)], ['POST /refresh-cookie', grant('b')])
    page.expects([`POST ${orders}`, async (request) => Response.json(await request.json())])
    const response = await client.authFetch(orders, { method: 'POST', body: '{"a":1}' })
    expect(await response.json()).toEqual({ a: 1 })
    expect(page.seen.at(-1)?.headers.get('authorization')).toBe(`Bearer ${tokenOf('u1', 'b')}`)
  })

  it('sends a stream and the body of a Request once', async () => {
    const { page, client } = await signedIn()
    const body = new ReadableStream({ start: (stream) => stream.close() })
    const init = { method: 'POST', body, duplex: 'half' } as const
    page.expects([`POST ${orders}`, refusal(401)], [`POST ${orders}`, refusal(401)])
    expect((await client.authFetch(orders, init)).status).toBe(401)
    const request = new Request(orders, { method: 'POST', body: 'x' })
    expect((await client.authFetch(request)).status).toBe(401)
  })

  it.each([
    ['https://api.example.com/'],
    ['https://api.example.com/v1'],
    ['https://ada@api.example.com'],
    ['api.example.com'],
    ['*'],
    ['null'],
  ])('takes origins alone for the list, not %s', (given) => {
    const { environment } = scriptedPage()
    const make = () => createClient({ surface: 'client', origins: [given], environment })
    expect(make).toThrow('option "origins" must be like https://api.example.com')
  })

  it('believes of other listed origins no word on the session', async () => {
    const page = scriptedPage()
    const other = 'https://files.example.com'
    const client = createClient({
      surface: 'client',
      baseUrl: 'https://api.example.com',
      origins: ['https://api.example.com', other],
      environment: page.environment,
    })
    page.expects(['GET /session', session()], ['POST /refresh-cookie', grant()])
    await client.restore()
    await page.clock.advance(0)
    page.expects([`GET ${other}/a`, refusal(401, 'session_revoked')])
    page.expects(['POST /refresh-cookie', grant('b')], [`GET ${other}/a`, done])
    expect((await client.authFetch(`${other}/a`)).status).toBe(200)
    page.expects([`GET ${orders}`, refusal(401, 'session_revoked')])
    expect((await client.authFetch(orders)).status).toBe(401)
    expect(client.get()).toEqual({ status: 'signedOut', reason: 'session_revoked' })
  })

  it('resolves relative addresses against the page, which is another origin here', async () => {
    const { page, client } = await signedIn()
    page.expects(['GET https://app.example.com/orders', done])
    await client.authFetch('/orders')
    expect(page.seen[0]?.headers.has('authorization')).toBe(false)
  })

  it('rejects with its errors', async () => {
    const { page, client } = await signedIn()
    page.expects([`GET ${orders}`, lost])
    await expect(client.authFetch(orders)).rejects.toMatchObject({ kind: 'network' })
    const signal = AbortSignal.abort('enough')
    await expect(client.authFetch(orders, { signal })).rejects.toMatchObject({ kind: 'abort' })
  })
})

describe('subscribe', () => {
  it('tells of each change once, with one snapshot until the next', async () => {
    const { page, client } = await signedIn()
    const states: string[] = []
    const stop = client.onChange(({ status }) => states.push(status))
    const before = client.get()
    page.expects(['GET /session', session()])
    await client.restore()
    expect(client.get()).toBe(before)
    page.expects(['POST /logout', empty])
    await client.call('POST /logout')
    expect(states).toEqual(['signedOut'])
    stop()
  })
})
