import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { describe, expect, it } from 'vitest'
import { expectProblem } from '../../support/hosts/expectations.js'
import type { HostOptions } from '../../support/hosts/hosts.js'
import { type Reply, textOf } from '../../support/hosts/http-client.js'
import { eachFramework } from '../../support/hosts/matrix.js'
import { newAddress, openHost, outcomeOf, seenOf } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { signedInPerson } from '../../support/people/people.js'
import {
  administrator,
  grant,
  peopleMay,
  revoke,
  serviceAccount,
} from '../../support/people/service-account-steps.js'
import {
  type Asked,
  ask,
  basicOf,
  byBasic,
  byForm,
  form,
  formOf,
  granting,
  methods,
  type Pair,
  path,
  unknown,
} from './token-endpoint-steps.js'

const open = (options: HostOptions = {}) =>
  openHost({ authorizer: peopleMay, ...withoutLimits, ...options })

function expectRefusal(reply: Reply, status: number, error: string): void {
  const { headers } = reply
  expect([reply.status, reply.json()['error']], reply.text).toEqual([status, error])
  expect(Object.keys(reply.json()).sort()).toEqual(['error', 'error_description'])
  expect(reply.json()['error_description']).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/)
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect([headers.get('cache-control'), headers.get('pragma')]).toEqual(['no-store', 'no-cache'])
  if (status === 400) expect(headers.get('www-authenticate')).toBeNull()
}

eachFramework.describe('the token endpoint of OAuth libraries', ({ start }) => {
  it('gives oauth4webapi and openid-client a token that works', async () => {
    const host = await start({ authorizer: peopleMay, ...withoutLimits })
    try {
      const { clientId, clientSecret } = await serviceAccount(host, await administrator(host))
      const issuer = { issuer: host.url, token_endpoint: `${host.url}${path}` }
      const client = { client_id: clientId }
      for (const method of [oauth.ClientSecretBasic, oauth.ClientSecretPost]) {
        const response = await oauth.clientCredentialsGrantRequest(
          ...([issuer, client, method(clientSecret), new URLSearchParams()] as const),
          { [oauth.allowInsecureRequests]: true },
        )
        const token = await oauth.processClientCredentialsResponse(issuer, client, response)
        expect([token.token_type, token.expires_in]).toEqual(['bearer', 900])
        expect(await host.auth.operator.authenticate(`Bearer ${token.access_token}`)).toMatchObject(
          {
            kind: 'service',
          },
        )
      }
      for (const method of [openid.ClientSecretBasic, openid.ClientSecretPost]) {
        const config = new openid.Configuration(issuer, clientId, undefined, method(clientSecret))
        openid.allowInsecureRequests(config)
        const token = await openid.clientCredentialsGrant(config)
        expect(token.access_token.split('.')).toHaveLength(3)
      }
    } finally {
      await host.close()
    }
  })

  it('takes a form and nothing else, and the door of the seed takes none', async () => {
    const host = await start({ authorizer: peopleMay, ...withoutLimits })
    try {
      const who = await serviceAccount(host, await administrator(host))
      for (const way of Object.values(methods)) {
        const reply = await ask(host, way(who))
        expect(Object.keys(reply.json())).toEqual(['access_token', 'token_type', 'expires_in'])
        expect(reply.headers.get('pragma')).toBe('no-cache')
        expect(reply.setCookies).toEqual([])
      }
      const json = await host.send('POST', path, { body: { grant_type: 'client_credentials' } })
      expectProblem(json, 415, 'unsupported_media_type')
      const headers = { 'content-type': form }
      const seed = await host.send('POST', '/v1/auth/token', { body: formOf(who), headers })
      expectProblem(seed, 415, 'unsupported_media_type')
      expect((await grant(host, who)).status).toBe(200)
      expectProblem(await host.send('GET', path), 405, 'method_not_allowed')
      expectProblem(await ask(host, { body: 'x'.repeat(70_000) }), 413, 'payload_too_large')
      expectRefusal(await ask(host, { body: `${formOf(who)}&client_id=x` }), 400, 'invalid_request')
    } finally {
      await host.close()
    }
  })
})

describe('a request that is wrong whoever sent it', () => {
  it.each<[string, string, (pair: Pair) => Asked]>([
    ['both methods at once', 'invalid_request', (p) => ({ ...byBasic(p), ...byForm(p) })],
    [
      'a client that is another in the form',
      'invalid_request',
      (p) => ({ ...byBasic(p), body: `${granting}&client_id=sa_other` }),
    ],
    ['a repeated parameter', 'invalid_request', (p) => ({ body: `${formOf(p)}&${granting}` })],
    [
      'a repeated parameter that is spelled otherwise',
      'invalid_request',
      (p) => ({ body: `${formOf(p)}&client%5Fid=x` }),
    ],
    [
      'a secret in the query',
      'invalid_request',
      (p) => ({ ...byBasic(p), query: '?client_secret=x' }),
    ],
    ['an id in the query', 'invalid_request', (p) => ({ ...byForm(p), query: '?client%5fid=x' })],
    [
      'an assertion beside it',
      'invalid_request',
      (p) => ({ ...byBasic(p), body: `${granting}&client_assertion=x` }),
    ],
    ['no grant type', 'invalid_request', (p) => ({ ...byBasic(p), body: 'a=b' })],
    ['an empty grant type', 'invalid_request', (p) => ({ ...byBasic(p), body: 'grant_type=' })],
    ['a stray percent sign', 'invalid_request', (p) => ({ body: `${formOf(p)}&x=%` })],
    ['no UTF-8', 'invalid_request', (p) => ({ body: `${formOf(p)}&x=%ff` })],
    ['65 parameters', 'invalid_request', (p) => ({ body: `${formOf(p)}${'&a'.repeat(62)}` })],
    [
      'another grant',
      'unsupported_grant_type',
      (p) => ({ ...byBasic(p), body: 'grant_type=password' }),
    ],
    ['a scope', 'invalid_scope', (p) => ({ ...byBasic(p), body: `${granting}&scope=a+b` })],
  ])('%s: 400 %s, before any credential is looked at', async (_what, error, way) => {
    const host = await open()
    const who = await serviceAccount(host, await administrator(host))
    const [right, wrong] = [await ask(host, way(who)), await ask(host, way(unknown))]
    expectRefusal(right, 400, error)
    expect(seenOf(wrong)).toEqual(seenOf(right))
    expect(host.events.filter(({ type }) => type.startsWith('serviceToken'))).toEqual([])
  })

  it('what means nothing here is ignored, and an empty scope is none', async () => {
    const host = await open()
    const who = await serviceAccount(host, await administrator(host))
    const extra = '&scope=&resource=https%3A%2F%2Fa.example&audience=x&__proto__=y'
    expect((await ask(host, { body: formOf(who) + extra })).status).toBe(200)
    const named = { ...byBasic(who), body: `${granting}&client_id=${who.clientId}` }
    expect((await ask(host, named)).status).toBe(200)
  })
})

describe.each(Object.entries(methods))('credentials that are refused, by %s', (method, way) => {
  it('get one reply, byte for byte', async () => {
    const host = await open({ settings: { ...withoutLimits.settings, grantFailuresPerIp: 1000 } })
    const who = await administrator(host)
    const good = await serviceAccount(host, who)
    const revoked = await serviceAccount(host, who)
    await revoke(host, who, revoked.id, revoked.credentialId)
    const disabled = await serviceAccount(host, who)
    expect((await ask(host, way(disabled))).status).toBe(200)
    await host.auth.operator.users.update(disabled.id, { enabled: false })
    const { clientId, clientSecret } = good
    const pairs: readonly Pair[] = [
      ...[unknown, revoked, disabled],
      ...[
        { clientId, clientSecret: unknown.clientSecret },
        { clientId: `${clientId}\n`, clientSecret },
        { clientId: `${clientId}\0`, clientSecret },
        { clientId: `${clientId} `, clientSecret },
        { clientId, clientSecret: `${clientSecret}\r\n` },
        { clientId, clientSecret: 'é'.repeat(300) },
      ],
    ]
    const replies: Reply[] = []
    for (const pair of pairs) replies.push(await ask(host, way(pair)))
    if (method === 'client_secret_basic') {
      const encodedPair = basicOf(good)
      const broken = ['', 'x', `${encodedPair}!`, `${encodedPair}, Bearer x`, btoa('no colon')]
      for (const basic of [...broken, btoa(`${clientId}:%zz`), btoa(`${clientId}:\xff`)]) {
        replies.push(await ask(host, { basic }))
      }
    } else {
      replies.push(await ask(host, { body: granting }))
      replies.push(await ask(host, { body: `${granting}&client_id=${clientId}` }))
      replies.push(await ask(host, { body: `${granting}&client_assertion=x` }))
    }
    for (const reply of replies) {
      expectRefusal(reply, 401, 'invalid_client')
      expect(seenOf(reply)).toEqual(replies[0] && seenOf(replies[0]))
    }
    const challenge =
      method === 'client_secret_basic' ? 'Basic realm="oauth2", charset="UTF-8"' : 'Bearer'
    expect(replies[0]?.headers.get('www-authenticate')).toBe(challenge)
    expect((await ask(host, way(good))).status).toBe(200)
  })

  it('are counted together with those of the other door', async () => {
    const settings = { grantFailuresPerIp: 5, grantFailuresPerClient: 3 }
    const host = await openHost({ authorizer: peopleMay, settings })
    const good = await serviceAccount(host, await administrator(host))
    const wrong = { ...good, clientSecret: unknown.clientSecret }
    const headers = { 'x-forwarded-for': newAddress() }
    const here = (pair: Pair) => ask(host, { ...way(pair), headers })
    expect(outcomeOf(await grant(host, wrong, { headers }))).toBe('401 invalid_client')
    expectRefusal(await here(wrong), 401, 'invalid_client')
    expect(outcomeOf(await grant(host, wrong, { headers }))).toBe('401 invalid_client')
    // The library's own body: whoever waits has to know for how long.
    expectProblem(await here(wrong), 429, 'rate_limited')
    expectProblem(await here(good), 429, 'rate_limited')
    expectProblem(await grant(host, good, { headers }), 429, 'rate_limited')
    const { clientSecret } = unknown
    const stranger = (at: number): Pair => ({
      clientId: `sa_${`${at}`.padStart(22, '0')}`,
      clientSecret,
    })
    for (const at of [1, 2]) expect((await here(stranger(at))).status).toBe(401)
    expectProblem(await here(stranger(3)), 429, 'rate_limited')
    expect(outcomeOf(await grant(host, stranger(4), { headers }))).toBe('429 rate_limited')
    expect((await ask(host, way(good))).status).toBe(200)
  })

  it('all requests of an address count together with those of the other door', async () => {
    const rateLimits = { grantPerIp: { limit: 2, windowMs: 60_000 } }
    const { operator, client } = withoutLimits.surfaces
    const surfaces = { operator: { ...operator, rateLimits }, client }
    const host = await openHost({ authorizer: peopleMay, surfaces })
    const good = await serviceAccount(host, await administrator(host))
    const headers = { 'x-forwarded-for': newAddress() }
    expect((await grant(host, good, { headers })).status).toBe(200)
    expect((await ask(host, { ...way(good), headers })).status).toBe(200)
    expectProblem(await ask(host, { ...way(good), headers }), 429, 'rate_limited')
    expect(outcomeOf(await grant(host, good, { headers }))).toBe('429 rate_limited')
  })

  it('what else the request brings neither helps nor harms', async () => {
    const host = await open()
    const good = await serviceAccount(host, await administrator(host))
    const { cookie, bearer } = await signedInPerson(host, 'operator')
    const origin = 'https://admin.example.com'
    const reply = await ask(host, { ...way(good), headers: { cookie, origin } })
    expect([reply.status, reply.setCookies]).toEqual([200, []])
    const named = [...reply.headers.keys()]
    expect(named.filter((name) => name.startsWith('access-control'))).toEqual([])
    const other = await ask(host, { ...way(unknown), headers: { cookie } })
    expectRefusal(other, 401, 'invalid_client')
    const asPerson = await ask(host, { headers: { authorization: `Bearer ${bearer}`, cookie } })
    expectRefusal(asPerson, 401, 'invalid_client')
    const asked = { origin, 'access-control-request-method': 'POST' }
    const preflight = await host.send('OPTIONS', path, { headers: asked })
    expect(preflight.status).toBe(405)
    expect([...preflight.headers.keys()].some((name) => name.startsWith('access-control'))).toBe(
      false,
    )
    expect(textOf((await ask(host, way(good))).json(), 'token_type')).toBe('Bearer')
  })
})
