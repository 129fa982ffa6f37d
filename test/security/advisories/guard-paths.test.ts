import { expect, it } from 'vitest'
import { eachFramework } from '../../support/hosts/matrix.js'
import { openHost, openHostAtOneAddress } from '../../support/hosts/open-host.js'
import { rawClient } from '../../support/hosts/raw-client.js'
import { goodPassword, otherPassword, person, signedInPerson } from '../../support/people/people.js'

/** Ways to write the path of a route that some router takes for it and some guard does not. */
const spellingsOf = (path: string): readonly string[] => {
  const [, ...parts] = path.split('/')
  const last = parts.at(-1) ?? ''
  const above = path.slice(0, -last.length - 1)
  return [
    `/${path}`,
    path.replaceAll('/', '//'),
    `${above}//${last}`,
    `${path}/`,
    `${path}//`,
    `${above}/./${last}`,
    `${above}/x/../${last}`,
    `${above}/%2e/${last}`,
    `${above}%2f${last}`,
    `${above}/%${last.charCodeAt(0).toString(16)}${last.slice(1)}`,
    `${above}/${last.toUpperCase()}`,
    path.toUpperCase(),
    `${path};x=1`,
    `${path};/x`,
    `${path}%00`,
    `${path}%20`,
    `${path}?x=1`,
    `${path}?/x`,
    `${path}/.`,
    `${path}.json`,
    `${above}\\${last}`,
    `http://evil.example${path}`,
  ]
}

const skippedBy = {
  'x-middleware-subrequest': 'middleware:middleware:middleware',
  'x-forwarded-uri': '/v1/auth/client/jwks',
  'x-original-url': '/v1/auth/client/jwks',
  'x-rewrite-url': '/v1/auth/client/jwks',
  'x-http-method-override': 'GET',
  'x-method-override': 'GET',
}

eachFramework.describe('a path in other spellings', (kind) => {
  const path = '/v1/auth/client/login'
  const json = { 'content-type': 'application/json' }
  const isFetch = kind.name.startsWith('fetch')

  it('is not found, or meets the limit, the switch and the origin check that the plain one meets', async () => {
    const settings = { loginRateClient: 2 }
    const limited = await openHostAtOneAddress({ settings, trustProxy: false }, kind)
    const { email } = await person(limited, 'client')
    const guess = JSON.stringify({ email, password: otherPassword })
    const send = rawClient(limited.url)
    for (const expected of [401, 401, 429]) {
      expect((await send('POST', path, { headers: json, body: guess })).status).toBe(expected)
    }
    const closed = await openHost({ settings: { passwordLoginClientEnabled: false } }, kind)
    const body = JSON.stringify({ email: 'ada@example.org', password: goodPassword })
    const open = await openHost({}, kind)
    const { cookie } = await signedInPerson(open, 'client')
    const evil = { ...json, cookie, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    const isAddress = (spelled: string) => spelled.startsWith('http')
    // Of a fetch request the server makes an address, and this is none.
    const spellings = spellingsOf(path).filter((one) => !(isFetch && isAddress(one)))
    for (const spelled of spellings) {
      const late = await send('POST', spelled, { headers: json, body: guess })
      expect([spelled, [400, 404, 405, 429].includes(late.status)]).toEqual([spelled, true])
      const shut = await rawClient(closed.url)('POST', spelled, { headers: json, body })
      expect([spelled, [400, 403, 404, 405].includes(shut.status)]).toEqual([spelled, true])
    }
    const rotating = spellingsOf('/v1/auth/client/refresh-cookie')
    for (const spelled of rotating.filter((one) => !(isFetch && isAddress(one)))) {
      const reply = await rawClient(open.url)('POST', spelled, { headers: evil, body: '{}' })
      expect([spelled, reply.status >= 400, reply.setCookies]).toEqual([spelled, true, []])
    }
  })

  it('nor does a header lead around a guard, by naming another path or method', async () => {
    const host = await openHost({}, kind)
    const { bearer, cookie } = await signedInPerson(host, 'operator')
    const me = '/v1/auth/client/me'
    for (const [name, value] of Object.entries(skippedBy)) {
      const headers = { [name]: value }
      expect([name, (await host.send('GET', me, { headers })).status]).toEqual([name, 401])
      const foreign = await host.send('GET', me, { headers, bearer })
      expect([name, foreign.code]).toEqual([name, 'audience_mismatch'])
      const evil = { ...headers, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
      const posted = await host.send('POST', '/v1/auth/operator/refresh-cookie', {
        headers: evil,
        cookie,
      })
      expect([name, posted.code, posted.setCookies]).toEqual([name, 'csrf_rejected', []])
    }
  })
})

const types = [
  'application/json',
  'Application/JSON ;x=1',
  'application/json; charset=utf-8',
  'application/csp-report',
  'text/plain',
  'text/plain;application/json',
  'text/plain; boundary=application/json',
  'application/x-www-form-urlencoded',
  'application/x-www-form-urlencoded, application/json',
  'multipart/form-data; boundary=x',
  'a',
  '',
]

eachFramework.describe('a request of another site', (kind) => {
  it('changes nothing by a cookie, whatever it calls its body', async () => {
    const host = await openHost({}, kind)
    const raw = rawClient(host.url)
    const who = await signedInPerson(host, 'client')
    const from = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    const doors = ['/refresh-cookie', '/logout', '/login', '/mobile/login', '/me/password']
    for (const type of types) {
      for (const path of doors) {
        const reply = await raw('POST', `/v1/auth/client${path}`, {
          headers: {
            ...from,
            cookie: who.cookie,
            ...(type === '' ? {} : { 'content-type': type }),
          },
          body: path === '/logout' ? '{"everywhere":true}' : '{}',
        })
        expect([type, path, reply.status >= 400]).toEqual([type, path, true])
        expect([type, path, reply.setCookies]).toEqual([type, path, []])
      }
    }
    const after = await host.send('POST', '/v1/auth/client/refresh-cookie', { cookie: who.cookie })
    expect(after.headers.get('x-refresh-outcome')).toBe('rotated')
    expect((await host.send('GET', '/v1/auth/client/me', who)).status).toBe(200)
  })
})
