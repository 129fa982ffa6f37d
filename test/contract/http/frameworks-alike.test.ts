import { expect, it } from 'vitest'
import { cells } from '../../shelves.js'
import { type HostKind, hostKind } from '../../support/hosts/hosts.js'
import { type Reply, refreshCookieOf, textOf } from '../../support/hosts/http-client.js'
import { openHost } from '../../support/hosts/open-host.js'
import { signedInPerson } from '../../support/people/people.js'
import { mailModule, refusing } from '../config/config-host.js'

/** What a framework could change of a reply, without what differs from one request to the next. */
function shape({ status, headers, setCookies, text }: Reply) {
  // Of the connection, and of the server that a test puts around the framework.
  const ofTransport = [
    'date',
    'connection',
    'keep-alive',
    'transfer-encoding',
    'content-length',
    'x-powered-by',
  ]
  const own = [...headers].filter(([name]) => !ofTransport.includes(name) && name !== 'set-cookie')
  const random = /[\w-]{20,}(\.[\w-]+)*|person-\d+/g
  return {
    status,
    headers: own.map(([name, value]) => [name, value.replaceAll(random, '…')]).sort(),
    cookies: setCookies.map((cookie) => cookie.replaceAll(random, '…')),
    text: text.replaceAll(random, '…'),
  }
}

/** One of everything: bodies, cookies, redirects, texts, nothing at all, and each kind of refusal. */
async function walked(kind: HostKind) {
  const host = await openHost(
    {
      modules: [mailModule({ validatePatch: refusing('No.', '') })],
      authorizer: { check: async () => true },
      settings: { googleClientEnabled: true, googleClientId: 'id', googleClientSecret: 'secret' },
    },
    kind,
  )
  const who = await signedInPerson(host, 'operator')
  const { email, password, bearer } = who
  const at = (path: string): string => `/v1/auth/operator${path}`
  const login = await host.send('POST', at('/login'), { body: { email, password } })
  const cookie = refreshCookieOf(login, 'operator')
  const other = textOf(login.json(), 'accessToken')
  const patch = '/v1/admin/modules/mail/environments/production'
  const target = encodeURIComponent('https://app.example.com/done')
  return [
    login,
    await host.send('POST', at('/refresh-cookie'), { cookie }),
    await host.send('GET', at('/me'), { bearer }),
    await host.send('GET', at('/me')),
    await host.send('GET', at('/nowhere')),
    await host.send('PUT', at('/me'), { bearer }),
    await host.send('POST', at('/login'), {
      body: '{',
      headers: { 'content-type': 'application/json' },
    }),
    await host.send('PATCH', patch, { bearer, body: { config: { sender: 'x' } } }),
    await host.send('GET', `/v1/auth/client/oauth/google/start?redirectUri=${target}`),
    await host.send('GET', '/v1/auth/client/oauth/google/callback?state=x&code=y'),
    await host.send('POST', at('/logout'), { bearer: other, cookie }),
    await host.send('HEAD', at('/jwks')),
  ].map(shape)
}

it('every framework sends the same replies: statuses, headers, cookies and bodies', async () => {
  const [first, ...others] = cells.all.frameworks.map((one) => hostKind(...one))
  if (first === undefined) throw new Error('no framework')
  const expected = await walked(first)
  expect(expected.map(({ status }) => status)).toEqual([
    ...[200, 200, 200, 401, 404, 405, 400, 422],
    ...expected.slice(8, 10).map(({ status }) => status),
    ...[204, 200],
  ])
  expect(expected[7]).toMatchObject({ text: 'Unprocessable Entity' })
  expect(expected[10]).toMatchObject({ text: '' })
  expect(expected[0]?.cookies.length).toBeGreaterThan(1)
  expect(others.length).toBeGreaterThanOrEqual(5)
  for (const kind of others) expect([kind.name, await walked(kind)]).toEqual([kind.name, expected])
})
