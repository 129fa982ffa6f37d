import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { createRemoteJWKSet, importPKCS8, jwtVerify, SignJWT } from 'jose'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type ProviderId, providerIds } from '../../src/identity-providers/providers.js'
import type { Account } from '../support/outside/provider-stub/account.js'
import { appleKeys, registered } from '../support/outside/provider-stub/credentials.js'
import { openStandIn } from '../support/outside/providers/open-stand-in.js'
import { type Navigation, paperBrowser } from '../support/outside/providers/paper-browser.js'
import type { StandIn } from '../support/outside/providers/stand-in.js'
import { failures } from '../support/outside/providers/token-replies.js'

/** What the stand-ins are asked by somebody who knows nothing of the library. */
const callback = 'http://localhost:9/callback'
const verifier = 'v'.repeat(43)
const challenge = createHash('sha256').update(verifier).digest('base64url')
const ada: Account = { subject: '1815', email: 'ada@example.org', name: 'Ada Lovelace' }

async function open(id: ProviderId) {
  const { privatePem, publicKey } = await appleKeys()
  const accounts = [ada]
  const provider = await openStandIn(id, { redirectUris: [callback], accounts, publicKey })
  onTestFinished(() => provider.close())
  return { provider, applePem: privatePem }
}

function addressOf(provider: StandIn, change: Readonly<Record<string, string | null>> = {}) {
  const url = new URL(at(provider.endpoints.authorization))
  const honest = {
    response_type: 'code',
    client_id: registered[provider.id].clientId,
    redirect_uri: callback,
    scope: { apple: 'name email', github: 'user:email' }[String(provider.id)] ?? 'openid email',
    state: 'a-state',
    nonce: 'a-nonce',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...(provider.id === 'apple' ? { response_mode: 'form_post' } : {}),
  }
  for (const [name, value] of Object.entries({ ...honest, ...change })) {
    if (value !== null) url.searchParams.set(name, value)
  }
  return url.href
}

/** Of Microsoft's addresses the one for all tenants. */
function at(endpoint: string | undefined): string {
  return endpoint?.replace(/\{tenant(id)?\}/, 'common') ?? assert.fail('no such endpoint')
}

async function appleSecret(
  pem: string,
  audience: string,
  change: { life?: number; kid?: string; issuer?: string; subject?: string } = {},
): Promise<string> {
  const { teamId, keyId, clientId } = registered.apple
  const { life = 600, kid = keyId, issuer = teamId, subject = clientId } = change
  const now = Math.floor(Date.now() / 1000)
  return new SignJWT({})
    .setProtectedHeader({ alg: 'ES256', kid })
    .setIssuer(issuer)
    .setSubject(subject)
    .setAudience(audience)
    .setIssuedAt(now)
    .setExpirationTime(now + life)
    .sign(await importPKCS8(pem, 'ES256'))
}

async function secretOf({ provider, applePem }: Awaited<ReturnType<typeof open>>) {
  if (provider.id === 'apple') return appleSecret(applePem, provider.url)
  return registered[provider.id].clientSecret
}

const answerOf = ({ url, fields }: Navigation): Record<string, string> => ({
  ...Object.fromEntries(new URL(url).searchParams),
  ...Object.fromEntries(new URLSearchParams(new URL(url).hash.slice(1))),
  ...fields,
})

const agree = async (provider: StandIn) =>
  answerOf(await paperBrowser().signIn(addressOf(provider), ada.subject, callback))

async function redeem(
  provider: StandIn,
  form: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> {
  const response = await fetch(at(provider.endpoints.token), {
    method: 'POST',
    headers: { accept: 'application/json' },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: registered[provider.id].clientId,
      redirect_uri: callback,
      code_verifier: verifier,
      ...form,
    }),
  })
  return { status: response.status, body: JSON.parse(await response.text()) }
}

describe.each(providerIds)('the stand-in for %s', (id) => {
  it('gives an honest client what it asks for, once', async () => {
    const opened = await open(id)
    const { provider } = opened
    const { code = '', state, iss } = await agree(provider)
    expect(state).toBe('a-state')
    expect([undefined, at(provider.endpoints.issuer).replace('common', tenant)]).toContain(iss)
    const client_secret = await secretOf(opened)
    const { status, body } = await redeem(provider, { code, client_secret })
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body).toMatchObject({ access_token: expect.any(String) })
    if (id !== 'github') {
      const keys = createRemoteJWKSet(new URL(at(provider.endpoints.jwks)))
      const { payload } = await jwtVerify(String(body['id_token']), keys, { algorithms: ['RS256'] })
      expect(payload).toMatchObject({
        iss: at(provider.endpoints.issuer).replace('common', tenant),
        aud: registered[id].clientId,
        sub: '1815',
        nonce: 'a-nonce',
        email: 'ada@example.org',
        ...told[id],
      })
    } else expect(body).not.toHaveProperty('id_token')
    expect(provider.secrets()).toEqual(
      expect.arrayContaining([code, body['access_token'], ...[body['id_token'] ?? []].flat()]),
    )
    const again = await redeem(provider, { code, client_secret })
    expect(again.body).toMatchObject(refusals[id])
    expect(provider.tokenRequests).toHaveLength(2)
  })

  it.each([
    ['another redirect URI', { redirect_uri: `${callback}/` }],
    ['one without a challenge', { code_challenge: null, code_challenge_method: null }],
    ['a plain challenge', { code_challenge_method: 'plain' }],
    ['another client', { client_id: 'somebody-else' }],
    ['another response type', { response_type: 'token' }],
  ])('refuses %s', async (_title, change) => {
    const { provider } = await open(id)
    const asked = paperBrowser().signIn(addressOf(provider, change), ada.subject, callback)
    const seen = await asked.then(answerOf, () => ({ error: 'a page' }))
    expect(seen).toMatchObject({ error: expect.any(String) })
    expect(seen).not.toHaveProperty('code')
  })

  it.each([
    ['another verifier', { code_verifier: 'w'.repeat(43) }],
    ['no verifier', { code_verifier: '' }],
    ['another redirect URI', { redirect_uri: `${callback}?` }],
    ['a made-up secret', { client_secret: 'made-up' }],
    ['a made-up code', { code: 'made-up' }],
  ])('gives nothing for %s', async (_title, change) => {
    const opened = await open(id)
    const { code = '' } = await agree(opened.provider)
    const client_secret = await secretOf(opened)
    const { body } = await redeem(opened.provider, { code, client_secret, ...change })
    expect(body).toMatchObject({ error: expect.any(String) })
    expect(body).not.toHaveProperty('access_token')
  })

  it('lets people say no', async () => {
    const { provider } = await open(id)
    const answer = answerOf(await paperBrowser().cancel(addressOf(provider), callback))
    expect(answer).toMatchObject({
      state: 'a-state',
      error: id === 'apple' ? 'user_cancelled_authorize' : 'access_denied',
    })
  })

  it.each(failures.filter((failure) => failure !== 'silence'))('answers with %s', async (how) => {
    const opened = await open(id)
    const { code = '' } = await agree(opened.provider)
    opened.provider.misbehave(how)
    const response = await fetch(at(opened.provider.endpoints.token), {
      method: 'POST',
      redirect: 'manual',
      headers: { accept: 'application/json' },
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        client_id: registered[id].clientId,
        client_secret: await secretOf(opened),
        redirect_uri: callback,
        code_verifier: verifier,
        code,
      }),
    })
    const text = await response.text()
    expect([response.status, text.includes('access_token'), text.length > 10_000_000]).toEqual(
      wire[how],
    )
  })
})

describe('the stand-in for apple', () => {
  it('tells a name the first time alone', async () => {
    const { provider } = await open('apple')
    const name = { firstName: 'Ada', lastName: 'Lovelace' }
    expect(JSON.parse((await agree(provider))['user'] ?? '')).toMatchObject({ name })
    expect(await agree(provider)).not.toHaveProperty('user')
  })

  it.each([
    ['for more than six months', { life: 15_777_001 }],
    ['that has expired', { life: -1 }],
    ['by another key', { kid: 'KEYID00000' }],
    ['of another team', { issuer: 'TEAM999999' }],
    ['of another client', { subject: 'org.example.other' }],
  ])('refuses a client secret %s', async (_title, change) => {
    const { provider, applePem } = await open('apple')
    const { code = '' } = await agree(provider)
    const client_secret = await appleSecret(applePem, provider.url, change)
    const reply = await redeem(provider, { code, client_secret })
    expect(reply).toEqual({ status: 400, body: { error: 'invalid_client' } })
  })
})

const tenant = '11111111-2222-4333-8444-555555555555'

const told = {
  google: { email_verified: true, hd: 'example.org' },
  microsoft: { tid: tenant, oid: 'object-1815' },
  apple: { email_verified: 'true' },
} as const

const refusals = {
  google: { error: 'invalid_grant' },
  microsoft: { error: 'invalid_grant' },
  apple: { error: 'invalid_grant' },
  github: { error: 'bad_verification_code' },
} as const

const wire = {
  'an error': [503, true, false],
  'an error with the status of a success': [200, false, false],
  'ten megabytes': [200, true, true],
  'a page': [200, false, false],
  'a redirect': [307, true, false],
  'no ID token': [200, true, false],
} as const
