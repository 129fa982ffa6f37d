import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operations } from '../../../src/operations/index.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import { type ContractHost, memoryHost } from '../../support/hosts/hosts.js'
import type { Reply } from '../../support/hosts/http-client.js'
import { eachFramework } from '../../support/hosts/matrix.js'
import { openHost } from '../../support/hosts/open-host.js'
import { type RawSend, rawClient } from '../../support/hosts/raw-client.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { type Person, type SignedIn, signedInPerson } from '../../support/people/people.js'

const own = 'https://app.example.com'
const listed = 'https://www.example.com'
/** Pages of an app for phones, of one for desktops, and of two browser extensions. */
const apps = [
  'capacitor://localhost',
  'tauri://localhost',
  `chrome-extension://${'abcdefgh'.repeat(4)}`,
  'moz-extension://0ee2a2a7-2f0c-4f0c-9c3e-0a1b2c3d4e5f',
]

const strangers = [
  'https://admin.example.com',
  'https://app.evil',
  'https://app.example.com.evil.tld',
  'http://app.example.com',
  'https://app.example.com:444',
  'https://APP.example.com',
  'https://app.example.com/',
  `${own}, ${listed}`,
  'null',
  '*',
  '',
  'ionic://localhost',
  `chrome-extension://${'bcdefgha'.repeat(4)}`,
]

const { operator, client } = withoutLimits.surfaces
const options = {
  ...withoutLimits,
  surfaces: {
    operator,
    client: {
      ...client,
      allowedOrigins: [listed, ...apps],
      // Two that pages may send already, and one that is here twice.
      allowedHeaders: ['authorization', 'X-Tenant', 'Traceparent', 'x-tenant'],
    },
  },
}

/** Without the option. */
const everyHeader =
  'Authorization, Content-Type, X-Token-Delivery, traceparent, tracestate, baggage, sentry-trace, X-Request-Id, X-Requested-With'

const at = (path: string): string => `/v1/auth/client${path}`

function corsOf({ headers }: Reply): Readonly<Record<string, string>> {
  const named = [...headers].filter(([name]) => name.startsWith('access-control'))
  return Object.fromEntries([...named, ['vary', headers.get('vary') ?? 'nothing']])
}

const granted = (origin: string) => ({
  vary: 'Origin',
  'access-control-allow-origin': origin,
  'access-control-allow-credentials': 'true',
})

const readable = (origin: string) => ({
  ...granted(origin),
  'access-control-expose-headers':
    'Deprecation, Retry-After, Sunset, WWW-Authenticate, X-Refresh-Outcome',
})

const ask = (origin: string, method: string) => ({
  headers: {
    origin,
    'access-control-request-method': method,
    'access-control-request-headers': 'authorization,content-type',
  },
})

eachFramework.describe('other origins', ({ start }) => {
  let host: ContractHost
  let raw: RawSend
  let ada: Person & SignedIn

  beforeAll(async () => {
    host = await start(options)
    raw = rawClient(host.url)
    ada = await signedInPerson(host, 'client')
  })
  afterAll(() => host.close())

  it.each([own, listed, ...apps])('%s may ask and is answered', async (origin) => {
    const reply = await raw('OPTIONS', at('/me'), ask(origin, 'PATCH'))
    expect([reply.status, reply.text]).toEqual([204, ''])
    expect(corsOf(reply)).toEqual({
      ...granted(origin),
      'access-control-allow-methods': 'GET, HEAD, PATCH, DELETE',
      'access-control-allow-headers': `${everyHeader}, X-Tenant`,
      'access-control-max-age': '600',
    })
    expect(reply.headers.get('cache-control')).toBe('no-store')
  })

  it('gets the headers of traces and request ids past the preflight', async () => {
    const names = ['traceparent', 'tracestate', 'baggage', 'sentry-trace', 'x-request-id']
    for (const name of [...names, 'x-requested-with', 'x-tenant']) {
      const reply = await raw('OPTIONS', at('/login'), {
        headers: {
          origin: listed,
          'access-control-request-method': 'POST',
          'access-control-request-headers': `content-type,${name}`,
        },
      })
      const allowed = reply.headers.get('access-control-allow-headers')?.toLowerCase().split(', ')
      expect(allowed, name).toContain(name)
    }
  })

  it('allows a header that one surface added on that surface alone', async () => {
    const asked = ask('https://admin.example.com', 'PATCH')
    const reply = await raw('OPTIONS', '/v1/auth/operator/me', asked)
    expect(corsOf(reply)).toMatchObject({ 'access-control-allow-headers': everyHeader })
  })

  it.each([own, listed, ...apps])('%s may read every reply, refusals too', async (origin) => {
    const { bearer, cookie } = ada
    const headers = { origin, authorization: `Bearer ${bearer}` }
    const json = { origin, 'content-type': 'application/json' }
    const replies = [
      await raw('GET', at('/me'), { headers }),
      await raw('HEAD', at('/me'), { headers }),
      await raw('GET', at('/session'), { headers: { origin, cookie } }),
      await raw('GET', at('/jwks'), { headers: { origin } }),
      await raw('GET', at('/me'), { headers: { origin } }),
      await raw('GET', at('/nope'), { headers }),
      await raw('PUT', at('/me'), { headers }),
      await raw('OPTIONS', at('/me'), { headers }),
      await raw('OPTIONS', at('/nope'), ask(origin, 'GET')),
      await raw('POST', at('/login'), { headers: json, body: '{}' }),
      await raw('POST', at('/login'), { headers: { origin }, body: 'x' }),
      await raw('POST', at('/refresh-cookie'), { headers: { origin } }),
    ]
    expect(replies.map(({ status }) => status)).toEqual([
      200, 200, 200, 200, 401, 404, 405, 405, 404, 400, 415, 401,
    ])
    for (const reply of replies) expect(corsOf(reply)).toEqual(readable(origin))
  })

  it.each(strangers)('%j is granted nothing', async (origin) => {
    const headers = { origin, authorization: `Bearer ${ada.bearer}` }
    const asked = await raw('OPTIONS', at('/me'), ask(origin, 'GET'))
    expectProblem(asked, 405, 'method_not_allowed')
    const replies = [
      asked,
      await raw('GET', at('/me'), { headers }),
      await raw('GET', at('/session'), { headers: { origin, cookie: ada.cookie } }),
      await raw('GET', at('/nope'), { headers }),
    ]
    expect(replies.map(({ status }) => status)).toEqual([405, 200, 403, 404])
    for (const reply of replies) expect(corsOf(reply)).toEqual({ vary: 'Origin' })
  })

  it('names the origin among what a reply varies by, also where none was sent', async () => {
    expect(corsOf(await raw('GET', at('/jwks')))).toEqual({ vary: 'Origin' })
  })
})

it('every operation may be asked about with its method, on its own surface', async () => {
  const host = await openHost(options)
  const raw = rawClient(host.url)
  for (const { method, path, surfaces, oauth2 } of operations) {
    // See the tests of the token endpoint.
    if (oauth2) continue
    for (const surface of surfaces) {
      const origin = surface === 'operator' ? 'https://admin.example.com' : listed
      const filled = path.replace('{surface}', surface).replaceAll(/\{\w+\}/g, 'x')
      const reply = await raw('OPTIONS', filled, ask(origin, method))
      expect(reply.status, `${method} ${filled}`).toBe(204)
      const methods = reply.headers.get('access-control-allow-methods')?.split(', ')
      expect(methods, filled).toContain(method)
      const foreign = await raw('OPTIONS', filled, ask('https://app.evil', method))
      expect([foreign.status, corsOf(foreign)]).toEqual([405, { vary: 'Origin' }])
    }
  }
})

describe('an unprefixed path', () => {
  const session = '/v1/auth/session'

  it('on one host is asked about for the surface that lists the origin', async () => {
    const host = await openHost(options)
    const raw = rawClient(host.url)
    for (const origin of [own, listed, 'https://admin.example.com']) {
      const reply = await raw('OPTIONS', session, ask(origin, 'GET'))
      expect([reply.status, corsOf(reply)]).toEqual([204, expect.objectContaining(granted(origin))])
    }
    const stranger = await raw('OPTIONS', session, ask('https://app.evil', 'GET'))
    expect([stranger.status, corsOf(stranger)]).toEqual([405, { vary: 'Origin' }])
  })

  it('is read by the surface whose cookie came, and by no other', async () => {
    const host = await openHost(options)
    const raw = rawClient(host.url)
    const { cookie } = await signedInPerson(host, 'client')
    const mine = await raw('GET', session, { headers: { origin: listed, cookie } })
    expect([mine.status, corsOf(mine)]).toEqual([200, readable(listed)])
    const foreign = { origin: 'https://admin.example.com', cookie }
    const theirs = await raw('GET', session, { headers: foreign })
    expectProblem(theirs, 403, 'csrf_rejected')
    expect(corsOf(theirs)).toEqual({ vary: 'Origin' })
  })

  it('on a host of one surface answers for its origins alone', async () => {
    const host = await memoryHost.start({ ...options, mount: 'operator' })
    const raw = rawClient(host.url)
    const asked = await raw('OPTIONS', session, ask(listed, 'GET'))
    expect([asked.status, corsOf(asked)]).toEqual([405, { vary: 'Origin' }])
    await host.close()
  })
})
