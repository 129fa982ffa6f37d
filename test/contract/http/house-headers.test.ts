import { afterAll, beforeAll, expect, it } from 'vitest'
import { expectHouseHeaders } from '../../support/hosts/expectations.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import type { Reply } from '../../support/hosts/http-client.js'
import { eachFramework } from '../../support/hosts/matrix.js'
import { rawClient } from '../../support/hosts/raw-client.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { type Person, type SignedIn, signedInPerson } from '../../support/people/people.js'

const at = (path: string): string => `/v1/auth/client${path}`

/** Replies of every status there is without a failure, of people who are signed in, and of those who are not. */
async function repliesOf(host: ContractHost, bob: Person & SignedIn): Promise<readonly Reply[]> {
  const { send } = host
  const { email, password, bearer: token, cookie } = bob
  const operator = await signedInPerson(host, 'operator')
  const ended = await signedInPerson(host, 'client')
  await send('POST', at('/logout'), { bearer: ended.bearer })
  const body = { email, password }
  const cross = { 'sec-fetch-site': 'cross-site' }
  return [
    await send('GET', at('/me'), { bearer: token }),
    await send('POST', at('/login'), { body }),
    await send('POST', at('/mobile/login'), { body }),
    await send('GET', at('/session'), { cookie }),
    await send('POST', at('/register'), { body: { ...body, email: 'new@example.org' } }),
    await send('POST', at('/password/forgot'), { body: { email } }),
    await send('POST', at('/register'), { body: 'nope' }),
    await send('GET', at('/me')),
    await send('GET', at('/me'), { bearer: operator.bearer }),
    await send('GET', at('/me'), { bearer: ended.bearer }),
    await send('POST', at('/login'), { body: { ...body, password: 'wrong' } }),
    await send('POST', at('/refresh'), { body: { refreshToken: 'x' } }),
    await send('POST', at('/refresh-cookie')),
    await send('POST', at('/refresh-cookie'), { cookie, headers: cross }),
    await send('GET', at('/nope')),
    await send('PUT', at('/me')),
    await send('POST', at('/login'), { body: 'x'.repeat(70_000) }),
    await send('POST', at('/login'), { body: 'x', headers: { 'content-type': 'text/plain' } }),
    await send('POST', at('/register'), { body: { email: 'c@example.org', password: 'short' } }),
    await send('POST', at('/email/verify'), { body: { token: 'x.y' } }),
    await send('POST', at('/logout'), { bearer: token, cookie }),
  ]
}

eachFramework.describe('every reply', ({ start }) => {
  let host: ContractHost
  let replies: readonly Reply[]
  const each = (header: string): readonly (string | null)[] => [
    ...new Set(replies.map(({ headers }) => headers.get(header))),
  ]

  beforeAll(async () => {
    host = await start(withoutLimits)
    replies = await repliesOf(host, await signedInPerson(host, 'client'))
  })
  afterAll(() => host.close())

  it('carries the protective headers, and the scheme on every 401', async () => {
    for (const reply of replies) expectHouseHeaders(reply)
    expect([...new Set(replies.map(({ status }) => status))].sort()).toEqual([
      200, 201, 202, 204, 400, 401, 403, 404, 405, 413, 415, 422,
    ])
    expectHouseHeaders(await host.send('GET', at('/jwks')), 'public, max-age=300')
    expectHouseHeaders(await host.send('GET', at('/jwks/x')))
  })

  it('is nothing that a page can be made of, framed or embedded', () => {
    const [policy, ...others] = each('content-security-policy')
    expect(others).toEqual([])
    const directives = ['default-src', 'base-uri', 'form-action', 'frame-ancestors']
    expect(policy?.split('; ')).toEqual(directives.map((name) => `${name} 'none'`))
    expect(each('cross-origin-resource-policy')).toEqual(['same-origin'])
  })

  it('says what it is, and is not taken for anything else', () => {
    expect(each('x-content-type-options')).toEqual(['nosniff'])
    expect(each('referrer-policy')).toEqual(['no-referrer'])
    expect(each('content-type').toSorted()).toEqual([
      'application/json; charset=utf-8',
      'application/problem+json; charset=utf-8',
      null,
    ])
    const untyped = replies.filter(({ headers }) => headers.get('content-type') === null)
    expect([...new Set(untyped.map(({ status, text }) => `${status} ${text}`))]).toEqual(['204 '])
  })

  it('may be stored nowhere', () => {
    expect(each('cache-control')).toEqual(['no-store'])
  })

  it('tells no version, neither its own nor that of what it runs on', () => {
    const naming = ['server', 'via', 'x-powered-by', 'x-generator', 'x-aspnet-version']
    const named = naming.flatMap((header) => each(header)).filter((value) => value !== null)
    // Express names itself in a host that leaves that on, without its version.
    expect(named.filter((value) => value !== 'Express')).toEqual([])
    const texts = replies.flatMap(({ headers, text }) => [text, ...headers.values()])
    expect(texts.filter((text) => /postern|node\.?js|v\d+\.\d+\.\d+/i.test(text))).toEqual([])
  })
})

eachFramework.describe('what is not served', ({ start }) => {
  let host: ContractHost
  let ada: Person & SignedIn

  beforeAll(async () => {
    host = await start(withoutLimits)
    ada = await signedInPerson(host, 'operator')
  })
  afterAll(() => host.close())

  it('are documentation and figures, unless the host serves them itself', async () => {
    const names = [
      'openapi',
      'openapi.json',
      'docs',
      'swagger',
      'metrics',
      'health',
      'status',
      'debug',
    ]
    for (const base of ['/v1/auth', '/v1/auth/operator', '/v1/admin']) {
      for (const name of names) {
        const reply = await host.send('GET', `${base}/${name}`, { bearer: ada.bearer })
        expect([reply.status, reply.code], `${base}/${name}`).toEqual([404, 'not_found'])
      }
    }
  })

  it('is a page with what people wrote: text that would end a script stays text', async () => {
    const name = `</script><script>alert(1)</script><!-- "'\\u2028 &amp;`
    const { bearer } = ada
    expect(
      (await host.send('PATCH', '/v1/auth/operator/me', { bearer, body: { name } })).status,
    ).toBe(200)
    const reply = await host.send('GET', '/v1/auth/operator/me', { bearer })
    expect(JSON.stringify(reply.json())).toContain(JSON.stringify(name))
    expectHouseHeaders(reply)
  })
})

// A request of fetch cannot be a TRACE, so such a host answers one itself.
const tracing = eachFramework.cells.filter(({ name }) => !name.startsWith('fetch'))

it.each(tracing)(
  'TRACE on $name is refused, and nothing that was sent comes back',
  async ({ start }) => {
    const host = await start(withoutLimits)
    for (const path of ['/me', '/session', '/login', '/nope']) {
      const headers = { authorization: 'Bearer canary-2b90', 'x-canary': 'canary-7d1f' }
      const reply = await rawClient(host.url)('TRACE', `/v1/auth/operator${path}`, { headers })
      expect(reply.status, path).toBeGreaterThanOrEqual(400)
      expect(reply.text).not.toMatch(/canary/)
    }
    await host.close()
  },
)
