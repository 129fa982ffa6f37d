import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import {
  type CryptoKey,
  exportJWK,
  type GenerateKeyPairResult,
  generateKeyPair,
  type JWK,
  type JWTPayload,
  jwtVerify,
  SignJWT,
} from 'jose'
import type { ProviderId } from '../../../../src/identity-providers/providers.js'
import type { Fetcher, OutboundReply, OutboundRequest } from '../../../../src/index.js'
import { type Account, tenants } from './account.js'
import { registered } from './credentials.js'

/** How a provider may fail the host. */
export type Failure = 'refused' | 'error500' | 'error200' | 'huge' | 'redirect' | 'html'

/** What a test may do to an ID token before it is signed, or instead of signing it. */
export interface Forgery {
  readonly claims?: Readonly<Record<string, unknown>>
  readonly header?: Readonly<Record<string, unknown>>
  /** Signs with a key that is not published, not at all, or with the client secret. */
  readonly signature?: 'foreign' | 'none' | 'hs256'
}

/** The four providers at the other end of the wire. Strict: any other request fails the test. */
export interface ProviderStub extends Fetcher {
  /**
   * The person signs in and agrees; what their browser brings to the callback. Fails unless the
   * address is a proper authorization request of a registered client.
   */
  agree(authorizationUrl: string, account: Account): Record<string, string>
  /** The requests of the host so far. */
  readonly requests: readonly OutboundRequest[]
  /** Every token given out so far: none of them may be anywhere else. */
  readonly tokens: readonly string[]
  forge(forgery: Forgery | null): void
  fail(failure: Failure | null): void
  /** The public key of those tokens whose signature is `foreign`, with the id of the signing key. */
  foreignKey(): Promise<JWK>
  /** Lists these before the signing key. */
  publishBeside(entries: readonly unknown[]): void
  /** Makes new signing keys; the old ones are gone. */
  rotateKeys(): Promise<void>
}

interface Grant {
  readonly provider: ProviderId
  readonly redirectUri: string
  readonly challenge: string
  readonly nonce: string
  readonly account: Account
}

const providerOf: Readonly<Record<string, ProviderId>> = {
  'accounts.google.com/o/oauth2/v2/auth': 'google',
  'appleid.apple.com/auth/authorize': 'apple',
  'github.com/login/oauth/authorize': 'github',
}

const scopes: Readonly<Record<ProviderId, string>> = {
  google: 'openid email profile',
  microsoft: 'openid email profile',
  apple: 'name email',
  github: 'user:email',
}

const tokenEndpoint = (url: string): ProviderId | null => {
  if (url === 'https://oauth2.googleapis.com/token') return 'google'
  if (url === 'https://appleid.apple.com/auth/token') return 'apple'
  if (url === 'https://github.com/login/oauth/access_token') return 'github'
  return /^https:\/\/login\.microsoftonline\.com\/[\w-]+\/oauth2\/v2\.0\/token$/.test(url)
    ? 'microsoft'
    : null
}

const isKeySet = (url: string): boolean =>
  ['https://www.googleapis.com/oauth2/v3/certs', 'https://appleid.apple.com/auth/keys'].includes(
    url,
  ) || /^https:\/\/login\.microsoftonline\.com\/[\w-]+\/discovery\/v2\.0\/keys$/.test(url)

/** Made once for a test file: a key takes a while. */
let pairs: Promise<readonly [GenerateKeyPairResult, GenerateKeyPairResult]> | undefined

export async function providerStub(
  now: () => number,
  applePublicKey: CryptoKey,
): Promise<ProviderStub> {
  const requests: OutboundRequest[] = []
  const tokens: string[] = []
  const grants = new Map<string, Grant>()
  const holders = new Map<string, Account>()
  pairs ??= Promise.all([generateKeyPair('RS256'), generateKeyPair('RS256')])
  const [first, foreign] = await pairs
  let keys = first
  let kid = 'stub-1'
  let forgery: Forgery | null = null
  let failure: Failure | null = null
  let beside: readonly unknown[] = []

  function token(prefix: string): string {
    const made = `${prefix}-${randomBytes(18).toString('base64url')}`
    tokens.push(made)
    return made
  }

  async function idToken({ provider, nonce, account }: Grant): Promise<string> {
    const seconds = Math.floor(now() / 1000)
    const { subject, email, verified, name, tenant = tenants.acme, hostedDomain } = account
    const issuers = {
      google: 'https://accounts.google.com',
      microsoft: `https://login.microsoftonline.com/${tenant}/v2.0`,
      apple: 'https://appleid.apple.com',
      github: '',
    }
    const claims: JWTPayload = {
      iss: issuers[provider],
      aud: registered[provider].clientId,
      sub: subject,
      iat: seconds,
      exp: seconds + 3600,
      nonce,
      ...(email === undefined ? {} : { email }),
      ...(provider === 'microsoft'
        ? { tid: tenant, ...(verified === undefined ? {} : { xms_edov: verified }) }
        : { email_verified: verified ?? true }),
      ...(name === undefined || provider === 'apple' ? {} : { name }),
      ...(hostedDomain === undefined ? {} : { hd: hostedDomain }),
      ...forgery?.claims,
    }
    const made = await signed(claims, provider)
    tokens.push(made)
    return made
  }

  async function signed(claims: JWTPayload, provider: ProviderId): Promise<string> {
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    if (forgery?.signature === 'none') return `${part({ alg: 'none', kid })}.${part(claims)}.`
    if (forgery?.signature === 'hs256') {
      const { clientId } = registered[provider]
      const key = new TextEncoder().encode(clientId.padEnd(32, '.'))
      return new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid }).sign(key)
    }
    const { privateKey } = forgery?.signature === 'foreign' ? foreign : keys
    return new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', kid, ...forgery?.header })
      .sign(privateKey)
  }

  async function expectClient(provider: ProviderId, form: URLSearchParams): Promise<void> {
    assert.equal(form.get('client_id'), registered[provider].clientId)
    const secret = form.get('client_secret') ?? ''
    if (provider !== 'apple') return assert.equal(secret, registered[provider].clientSecret)
    const { clientId, teamId, keyId } = registered.apple
    const { payload, protectedHeader } = await jwtVerify(secret, applePublicKey, {
      algorithms: ['ES256'],
      issuer: teamId,
      subject: clientId,
      audience: 'https://appleid.apple.com',
      currentDate: new Date(now()),
      requiredClaims: ['exp', 'iat'],
    })
    assert.equal(protectedHeader.kid, keyId)
    assert.ok(Number(payload.exp) - Number(payload.iat) <= 15_777_000, 'longer than Apple allows')
  }

  async function exchange(provider: ProviderId, request: OutboundRequest): Promise<OutboundReply> {
    assert.equal(request.method, 'POST')
    assert.match(request.headers['content-type'] ?? '', /^application\/x-www-form-urlencoded/)
    assert.equal(request.headers['accept'], 'application/json')
    const form = new URLSearchParams(request.body)
    assert.equal(form.get('grant_type'), 'authorization_code')
    assert.equal(form.size, new Set(form.keys()).size, 'a parameter was sent twice')
    await expectClient(provider, form)
    const code = form.get('code') ?? ''
    const grant = grants.get(code)
    const verifier = form.get('code_verifier') ?? ''
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    const isGood =
      grant?.provider === provider &&
      grant.redirectUri === form.get('redirect_uri') &&
      grant.challenge === challenge &&
      /^[\w.~-]{43,128}$/.test(verifier)
    // GitHub tells of errors with the status of a success.
    if (!isGood) return json({ error: 'invalid_grant' }, provider === 'github' ? 200 : 400)
    grants.delete(code)
    const accessToken = token('access')
    holders.set(accessToken, grant.account)
    const given = { access_token: accessToken, token_type: 'bearer', scope: '' }
    if (provider === 'github') return json(given)
    const refresh = { refresh_token: token('refresh'), expires_in: 3600 }
    return json({ ...given, ...refresh, id_token: await idToken(grant) })
  }

  function github({ url, headers }: OutboundRequest): OutboundReply {
    const bearer = /^Bearer (.+)$/.exec(headers['authorization'] ?? '')?.[1] ?? ''
    const account = holders.get(bearer)
    assert.ok(headers['user-agent'], 'GitHub refuses requests without a user agent')
    if (account === undefined) return json({ message: 'Bad credentials' }, 401)
    const { subject, email, verified = true, name = null } = account
    // The profile's address is what its owner likes to show, confirmed or not.
    if (url.endsWith('/user')) return json({ id: Number(subject), login: 'ada', email, name })
    const others = { email: 'old@example.net', primary: false, verified: true }
    return json([others, ...(email === undefined ? [] : [{ email, primary: true, verified }])])
  }

  async function publishedKeys(): Promise<OutboundReply> {
    const jwk = await exportJWK(keys.publicKey)
    return json({ keys: [...beside, { ...jwk, kid, use: 'sig', alg: 'RS256' }] })
  }

  return {
    requests,
    tokens,
    agree(authorizationUrl, account) {
      const url = new URL(authorizationUrl)
      const provider =
        providerOf[`${url.host}${url.pathname}`] ??
        (/^\/[\w-]+\/oauth2\/v2\.0\/authorize$/.test(url.pathname) ? 'microsoft' : null)
      assert.ok(url.protocol === 'https:' && provider !== null, `nobody is at ${url}`)
      const get = (name: string): string => {
        assert.equal(url.searchParams.getAll(name).length, 1, name)
        return url.searchParams.get(name) ?? ''
      }
      assert.equal(get('response_type'), 'code')
      assert.equal(get('client_id'), registered[provider].clientId)
      assert.equal(get('scope'), scopes[provider])
      assert.equal(get('code_challenge_method'), 'S256')
      assert.match(get('code_challenge'), /^[\w-]{43}$/)
      const redirectUri = get('redirect_uri')
      assert.match(redirectUri, new RegExp(`/oauth/${provider}/callback$`))
      const isForm = url.searchParams.get('response_mode') === 'form_post'
      assert.equal(isForm, provider === 'apple')
      const code = token('code')
      const nonce = url.searchParams.get('nonce') ?? ''
      assert.equal(nonce !== '', provider !== 'github')
      const challenge = get('code_challenge')
      grants.set(code, { provider, redirectUri, challenge, nonce, account })
      const [firstName = '', lastName = ''] = (account.name ?? '').split(' ')
      const user = JSON.stringify({ name: { firstName, lastName }, email: 'evil@example.org' })
      return { code, state: get('state'), ...(isForm && account.name ? { user } : {}) }
    },
    forge(given) {
      forgery = given
    },
    fail(given) {
      failure = given
    },
    async foreignKey() {
      return { ...(await exportJWK(foreign.publicKey)), kid, use: 'sig', alg: 'RS256' }
    },
    publishBeside(entries) {
      beside = entries
    },
    async rotateKeys() {
      keys = await generateKeyPair('RS256')
      kid = `${kid}+`
    },
    async fetch(request) {
      requests.push(request)
      assert.ok(request.timeoutMs <= 10_000 && request.maxBytes <= 256 * 1024)
      if (failure !== null) return failed(failure)
      const provider = tokenEndpoint(request.url)
      if (provider !== null) return exchange(provider, request)
      assert.equal(request.method, 'GET', request.url)
      if (isKeySet(request.url)) return publishedKeys()
      if (/^https:\/\/api\.github\.com\/user(\/emails)?$/.test(request.url)) return github(request)
      return assert.fail(`nobody is at ${request.url}`)
    },
  }
}

function json(body: unknown, status = 200): OutboundReply {
  return { status, body: JSON.stringify(body) }
}

function failed(failure: Failure): OutboundReply {
  switch (failure) {
    case 'refused':
      throw new Error('connect ECONNREFUSED')
    case 'huge':
      throw new Error('the reply is larger than 262144 bytes')
    case 'error500':
      return json({ error: 'server_error' }, 500)
    case 'error200':
      return json({ error: 'bad_verification_code', error_description: 'The code is wrong.' })
    case 'redirect':
      return { status: 302, body: '' }
    case 'html':
      return { status: 200, body: '<html>Sign in to the hotel network</html>' }
  }
}
