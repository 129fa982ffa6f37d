import { describe, expect, it, onTestFinished } from 'vitest'
import { fetchHandler } from '../../adapters/fetch.js'
import { frameworks } from '../support/hosts/frameworks.js'
import { httpClient } from '../support/hosts/http-client.js'
import { openHost } from '../support/hosts/open-host.js'

const operator = { baseUrl: 'https://admin.example.com' }
const client = { baseUrl: 'https://app.example.com' }
const wellKnown = '/.well-known/oauth-authorization-server'

async function opened(issuer?: string, surface: object = operator) {
  const surfaces = { operator: { ...operator, ...surface }, client }
  const host = await openHost({ surfaces, ...(issuer === undefined ? {} : { issuer }) })
  const handle = fetchHandler(host.auth.metadata)
  const ask = (path: string, method = 'GET') =>
    handle(new Request(`https://admin.example.com${path}`, { method }), {
      remoteAddress: '192.0.2.1',
    })
  const warnings = () =>
    host.logger.lines.filter(({ level, message }) => level === 'warn' && /metadata/.test(message))
  return { ask, warnings }
}

describe('the metadata of the authorization server', () => {
  it.each([
    ['the operator surface', undefined, {}, '', 'https://admin.example.com'],
    ['a path', 'https://admin.example.com/auth', {}, '/auth', 'https://admin.example.com'],
    [
      'a slash at the end',
      'https://admin.example.com/a/b/',
      {},
      '/a/b',
      'https://admin.example.com',
    ],
    [
      'routes elsewhere',
      'https://api.example.com',
      { routesUrl: 'https://api.example.com/identity/' },
      '',
      'https://api.example.com/identity',
    ],
  ])('is at the path of the issuer: %s', async (_what, issuer, surface, path, routes) => {
    const { ask, warnings } = await opened(issuer, surface)
    const reply = await ask(wellKnown + path)
    expect(reply?.status).toBe(200)
    expect(reply?.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(reply?.headers.get('cache-control')).toBe('no-store')
    const known = await reply?.json()
    expect(known).toEqual({
      issuer: issuer ?? operator.baseUrl,
      token_endpoint: `${routes}/v1/auth/oauth2/token`,
      jwks_uri: `${routes}/v1/auth/operator/jwks`,
      response_types_supported: [],
      grant_types_supported: ['client_credentials'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    })
    expect((await ask(wellKnown + path, 'HEAD'))?.status).toBe(200)
    expect((await ask(wellKnown + path, 'POST'))?.status).toBe(405)
    for (const other of [`${wellKnown}/other`, `${wellKnown}${path}/`, '/', '/v1/auth/token']) {
      expect(await ask(other), other).toBeNull()
    }
    expect(warnings()).toEqual([])
  })

  it('is there on Node 20, where URL has no parse', async () => {
    const { parse } = URL
    onTestFinished(() => void Object.assign(URL, { parse }))
    Object.assign(URL, { parse: undefined })
    const { ask } = await opened()
    expect((await ask(wellKnown))?.status).toBe(200)
  })

  it.each([
    ['a name', 'my-service'],
    ['http', 'http://admin.example.com'],
    ['another host', 'https://login.example.org'],
    ['a host of the other surface', 'https://app.example.com'],
    ['a query', 'https://admin.example.com/?a=b'],
    ['a fragment', 'https://admin.example.com/#a'],
    ['a name and a password', 'https://a:b@admin.example.com'],
    ['a password alone', 'https://:b@admin.example.com'],
  ])('is not there, with one warning, where the issuer is %s', async (_what, issuer) => {
    const { ask, warnings } = await opened(issuer)
    expect(await ask('/')).toBeNull()
    expect(warnings()).toEqual([])
    for (const path of [wellKnown, `${wellKnown}/auth`, wellKnown])
      expect(await ask(path)).toBeNull()
    expect(warnings()).toHaveLength(1)
  })
})

describe.each(Object.entries(frameworks))('the metadata in %s', (_name, serve) => {
  it('is mounted without a prefix, beside pages of the host', async () => {
    const issuer = 'https://admin.example.com/auth'
    const host = await openHost({ surfaces: { operator, client }, issuer })
    const running = await serve(host.auth.metadata)
    onTestFinished(() => running.close())
    const send = httpClient(running.url)
    const reply = await send('GET', `${wellKnown}/auth`)
    expect([reply.status, reply.json()['issuer']]).toEqual([200, issuer])
    expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(reply.headers.get('x-content-type-options')).toBe('nosniff')
    const head = await send('HEAD', `${wellKnown}/auth`)
    expect([head.status, head.text]).toEqual([200, ''])
    const refused = await send('POST', `${wellKnown}/auth`)
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    for (const other of [wellKnown, `${wellKnown}/auth/more`, '/', '/auth']) {
      expect([other, (await send('GET', other)).status]).toEqual([other, 404])
    }
  })
})
