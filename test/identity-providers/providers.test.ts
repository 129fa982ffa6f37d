import { describe, expect, it } from 'vitest'
import { describeError } from '../../src/errors/index.js'
import { createKeySets } from '../../src/identity-providers/key-sets.js'
import { microsoft } from '../../src/identity-providers/microsoft.js'
import { outboundOf } from '../../src/identity-providers/outbound.js'
import { type ProviderId, providerId, providerIds } from '../../src/identity-providers/providers.js'
import { type Account, tenants } from '../support/outside/provider-stub/account.js'
import type { Failure, Forgery } from '../support/outside/provider-stub/provider-stub.js'
import { codeChallenge, type Edit, providerRig, redirectUriOf, secrets } from './provider-rig.js'

const ada: Account = {
  subject: '1815',
  email: 'ada@example.org',
  verified: true,
  name: 'Ada Lovelace',
}
const oidc = ['google', 'microsoft', 'apple'] as const

describe('the four providers', () => {
  it('are these and no other, whatever an object inherits', () => {
    expect([...providerIds].sort()).toEqual(['apple', 'github', 'google', 'microsoft'])
    for (const other of ['facebook', '__proto__', 'constructor', 'toString', '', 'Google']) {
      expect(providerId(other)).toBeNull()
    }
  })

  it.each([
    ['google', 'https://accounts.google.com/o/oauth2/v2/auth', 'openid email profile'],
    [
      'microsoft',
      'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
      'openid email profile',
    ],
    ['apple', 'https://appleid.apple.com/auth/authorize', 'name email'],
    ['github', 'https://github.com/login/oauth/authorize', 'user:email'],
  ] as const)('%s is asked for no more than an account needs', async (id, at, scope) => {
    const { clients, credentialsOf } = await providerRig()
    const redirectUri = redirectUriOf(id)
    const credentials = credentialsOf(id)
    const url = new URL(
      await clients.authorizationUrl(id, credentials, { ...secrets, redirectUri }),
    )
    expect(`${url.origin}${url.pathname}`).toBe(at)
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: 'code',
      client_id: credentials.clientId,
      redirect_uri: redirectUri,
      scope,
      state: secrets.state,
      code_challenge: codeChallenge,
      code_challenge_method: 'S256',
      ...(id === 'github' ? {} : { nonce: secrets.nonce }),
      ...(id === 'apple' ? { response_mode: 'form_post' } : {}),
    })
    expect(url.href).not.toContain(secrets.codeVerifier)
  })

  it.each([
    ['google', 'https://accounts.google.com'],
    ['microsoft', `https://login.microsoftonline.com/${tenants.acme}/v2.0`],
    ['apple', 'https://appleid.apple.com'],
    ['github', 'https://github.com/login/oauth'],
  ] as const)('%s says who signed in', async (id, issuer) => {
    const { signIn } = await providerRig()
    expect(await signIn(id, ada)).toEqual({
      provider: id,
      issuer,
      subject: '1815',
      email: 'ada@example.org',
      emailVerified: true,
      hostedDomain: null,
      name: 'Ada Lovelace',
    })
  })

  it.each(providerIds)('%s gets a code back once', async (id) => {
    const { signIn, stub, clients, credentialsOf } = await providerRig()
    await signIn(id, ada)
    const [code = ''] = stub.tokens
    const replayed = clients.whoSignedIn(id, credentialsOf(id), {
      parameters: { code, state: secrets.state },
      secrets,
      redirectUri: redirectUriOf(id),
    })
    await expect(replayed).rejects.toMatchObject({ name: 'ProviderError', isDenial: false })
  })
})

describe.each(providerIds)('an answer of %s that is not to be believed', (id) => {
  const wrong: readonly (readonly [string, Edit])[] = [
    ['another state', { parameters: { state: 'st-2' } }],
    ['no state', { parameters: { state: '' } }],
    ['no code', { parameters: { code: '' } }],
    ['a code of somebody else’s', { parameters: { code: 'code-injected' } }],
    ['another verifier', { codeVerifier: 'w'.repeat(43) }],
    ['another redirect URI', { redirectUri: redirectUriOf(id).replace('client', 'operator') }],
    ['the issuer of another provider', { parameters: { iss: 'https://evil.example' } }],
    ['tokens in the address', { parameters: { id_token: 'eyJ' } }],
  ]

  it.each(wrong)('carries %s (RFC 9207)', async (_what, edit) => {
    const { signIn } = await providerRig()
    await expect(signIn(id, ada, edit)).rejects.toMatchObject({ name: 'ProviderError' })
  })

  it('carries the issuer itself: that one is (RFC 9207)', async () => {
    const { signIn } = await providerRig()
    const { issuer } = await signIn(id, ada)
    expect(await signIn(id, ada, { parameters: { iss: issuer } })).toMatchObject({ issuer })
    const error = signIn(id, ada, { parameters: { iss: 'https://evil.example', error: 'x' } })
    await expect(error).rejects.toThrow('another issuer')
  })

  it('a person who says no is told from a failure', async () => {
    const { signIn } = await providerRig()
    const deny = (error: string) => signIn(id, ada, { parameters: { error, code: '' } })
    await expect(deny('access_denied')).rejects.toMatchObject({ isDenial: true })
    await expect(deny('temporarily_unavailable')).rejects.toMatchObject({ isDenial: false })
  })

  it('the log is told why a code was refused (RFC 6749)', async () => {
    const { signIn } = await providerRig()
    const refused = signIn(id, ada, { codeVerifier: 'w'.repeat(43) })
    await expect(refused).rejects.toThrow('the provider refused the code: invalid_grant')
  })

  const failures: readonly Failure[] = [
    'refused',
    'error500',
    'error200',
    'huge',
    'redirect',
    'html',
  ]
  it.each(failures)('fails as "%s", and tells no token', async (failure) => {
    const { signIn, stub } = await providerRig()
    stub.fail(failure)
    const error: unknown = await signIn(id, ada).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ name: 'ProviderError', isDenial: false })
    const told = JSON.stringify(describeError(error))
    for (const token of stub.tokens) expect(told).not.toContain(token)
    stub.fail(null)
    expect(await signIn(id, ada)).toMatchObject({ provider: id, subject: '1815' })
  })
})

describe.each(oidc)('an ID token of %s', (id: ProviderId) => {
  const seconds = Date.UTC(2026, 0, 1) / 1000
  const forgeries: readonly (readonly [string, Forgery])[] = [
    ['another issuer', { claims: { iss: 'https://evil.example' } }],
    ['the issuer with a slash more', { claims: { iss: 'https://accounts.google.com/' } }],
    ['another audience', { claims: { aud: 'somebody-else' } }],
    ['a second audience', { claims: { aud: ['x', 'y'] } }],
    ['another authorized party', { claims: { azp: 'somebody-else' } }],
    ['another nonce', { claims: { nonce: 'no-2' } }],
    ['no nonce', { claims: { nonce: undefined } }],
    ['no subject', { claims: { sub: undefined } }],
    ['an empty subject', { claims: { sub: '' } }],
    ['a number for a subject', { claims: { sub: 1815 } }],
    ['a list for a subject', { claims: { sub: ['1815'] } }],
    ['a past expiry', { claims: { exp: seconds - 61 } }],
    ['no expiry', { claims: { exp: undefined } }],
    ['a time of issue long ago', { claims: { iat: seconds - 3600 } }],
    ['a time of issue to come', { claims: { iat: seconds + 120 } }],
    ['a key nobody published', { signature: 'foreign' }],
    ['a key id nobody published', { header: { kid: 'made-up' } }],
    ['no key id', { header: { kid: undefined } }],
    ['an empty key id', { header: { kid: '' } }],
    ['no signature', { signature: 'none' }],
    ['a shared secret’s signature', { signature: 'hs256' }],
    ['another algorithm', { header: { alg: 'RS256', crit: ['exp'], exp: 1 } }],
  ]

  it.each(forgeries)('is refused for %s', async (_what, forged) => {
    const { signIn, stub } = await providerRig()
    stub.forge(forged)
    await expect(signIn(id, ada)).rejects.toMatchObject({
      name: 'ProviderError',
      isDenial: false,
    })
    // No token leads to an address of its own choosing.
    expect(stub.requests.map(({ url }) => url).join()).not.toContain('evil')
    stub.forge(null)
    expect(await signIn(id, ada)).toMatchObject({ subject: '1815' })
  })

  it('is accepted with clocks a minute apart', async () => {
    const { signIn, stub } = await providerRig()
    stub.forge({ claims: { iat: seconds + 60, azp: undefined } })
    expect(await signIn(id, ada)).toMatchObject({ subject: '1815' })
  })
})

describe('addresses a provider does not vouch for', () => {
  it.each([
    ['google', false, false],
    ['google', 'false', false],
    ['google', 'true', true],
    ['microsoft', undefined, false],
    ['microsoft', false, false],
    ['microsoft', '0', false],
    ['microsoft', 1, true],
    ['microsoft', '1', true],
    ['microsoft', 'true', true],
    ['apple', 'true', true],
    ['apple', 'false', false],
    ['apple', 'TRUE ', false],
    ['github', true, true],
  ] as const)('%s with %j: vouched for is %s', async (id, verified, vouched) => {
    const { signIn } = await providerRig()
    const { verified: _, ...rest } = ada
    const account = verified === undefined ? rest : { ...rest, verified }
    expect((await signIn(id, account)).emailVerified).toBe(vouched)
  })

  it('GitHub’s primary address counts if it is confirmed, and no other', async () => {
    const { signIn } = await providerRig()
    const profile = await signIn('github', { ...ada, verified: false })
    expect(profile).toMatchObject({ email: null, emailVerified: false, subject: '1815' })
    const none = await signIn('github', { subject: '7' })
    expect(none).toMatchObject({ email: null, emailVerified: false, name: '' })
  })

  it('Apple’s form is signed by nobody: its name is shown, its address ignored', async () => {
    const { signIn } = await providerRig()
    const first = await signIn('apple', ada)
    expect(first).toMatchObject({ name: 'Ada Lovelace', email: 'ada@example.org' })
    for (const user of ['', 'null', '[]', '{"name":{"firstName":7}}', '{"name":"\\u0000"}', '{']) {
      expect(await signIn('apple', ada, { parameters: { user } })).toMatchObject({ name: '' })
    }
  })
})

describe('the tenants of Microsoft', () => {
  const of = (tenant: keyof typeof tenants): Account => ({ ...ada, tenant: tenants[tenant] })

  it.each([
    ['common', ['acme', 'evil', 'consumers']],
    ['organizations', ['acme', 'evil']],
    ['consumers', ['consumers']],
    [tenants.acme, ['acme']],
    [tenants.acme.toUpperCase(), ['acme']],
  ] as const)('%s lets in %j', async (tenant, allowed) => {
    const { signIn } = await providerRig()
    for (const one of ['acme', 'evil', 'consumers'] as const) {
      const profile = await signIn('microsoft', of(one), { tenant }).catch(() => null)
      expect([one, profile !== null]).toEqual([one, allowed.some((name) => name === one)])
    }
  })

  it('one subject in two tenants is two accounts', async () => {
    const { signIn } = await providerRig()
    const [acme, evil] = [
      await signIn('microsoft', of('acme')),
      await signIn('microsoft', of('evil')),
    ]
    expect(acme.subject).toBe(evil.subject)
    expect(acme.issuer).not.toBe(evil.issuer)
    expect(evil.issuer).toContain(tenants.evil)
  })

  it.each([
    ['another tenant’s issuer', { tid: tenants.evil }],
    ['no tenant', { tid: undefined }],
    ['a tenant that is none', { tid: '../common' }],
    ['the unfilled template', { iss: 'https://login.microsoftonline.com/{tenantid}/v2.0' }],
  ])('a token with %s is refused', async (_what, claims) => {
    const { signIn, stub } = await providerRig()
    stub.forge({ claims })
    await expect(signIn('microsoft', ada)).rejects.toMatchObject({ name: 'ProviderError' })
  })

  it('a key that signs for one tenant signs for no other', () => {
    const issuer = `https://login.microsoftonline.com/${tenants.acme}/v2.0`
    const may = (key: object) => microsoft.mayKeySign({ ...key }, issuer)
    expect(may({})).toBe(true)
    expect(may({ issuer })).toBe(true)
    expect(may({ issuer: 'https://login.microsoftonline.com/{tenantid}/v2.0' })).toBe(true)
    expect(may({ issuer: issuer.replace(tenants.acme, tenants.consumers) })).toBe(false)
    expect(may({ issuer: 'https://evil.example/{tenantid}/v2.0' })).toBe(false)
  })

  it('with an issuer given by the host, tenants are told apart all the same', async () => {
    const { signIn, stub } = await providerRig({ microsoft: { issuer: 'https://sts.example' } })
    stub.forge({ claims: { iss: 'https://sts.example' } })
    const { issuer } = await signIn('microsoft', of('acme'))
    expect(issuer).toBe(`https://sts.example ${tenants.acme}`)
    expect((await signIn('microsoft', of('evil'))).issuer).not.toBe(issuer)
  })
})

describe('Google', () => {
  it('is one issuer, with or without the scheme', async () => {
    const { signIn, stub } = await providerRig()
    stub.forge({ claims: { iss: 'accounts.google.com' } })
    expect((await signIn('google', ada)).issuer).toBe('https://accounts.google.com')
  })
})

describe('public keys', () => {
  const keyRequests = (stub: { readonly requests: readonly { readonly url: string }[] }) =>
    stub.requests.filter(({ url }) => url.includes('certs')).length

  it('are read once an hour, and at once when they are new', async () => {
    const { signIn, stub, clock } = await providerRig()
    await Promise.all([1, 2, 3].map(() => signIn('google', ada)))
    await signIn('google', ada)
    expect(keyRequests(stub)).toBe(1)
    await clock.advance(60_000)
    await stub.rotateKeys()
    await signIn('google', ada)
    expect(keyRequests(stub)).toBe(2)
    await clock.advance(3_600_000)
    await signIn('google', ada)
    expect(keyRequests(stub)).toBe(3)
  })

  it('are read again when the clock was set back: how old they are is not known', async () => {
    const { stub, clock } = await providerRig()
    let time = clock.now()
    const turned = { ...clock, now: () => time }
    const keySets = createKeySets({ outbound: outboundOf(stub), clock: turned })
    const url = 'https://www.googleapis.com/oauth2/v3/certs'
    await keySets.read(url, 'stub-1')
    time -= 5 * 3_600_000
    await keySets.read(url, 'stub-1')
    expect(keyRequests(stub)).toBe(2)
    await keySets.read(url, 'stub-1')
    expect(keyRequests(stub)).toBe(2)
  })

  it('are kept for a day at most while the provider cannot be reached', async () => {
    const { stub, clock } = await providerRig()
    let reachable = true
    const outbound: typeof stub.fetch = async (request) => {
      if (!reachable) throw new Error('nobody answers')
      return stub.fetch(request)
    }
    const keySets = createKeySets({ outbound: outboundOf({ fetch: outbound }), clock })
    const read = () => keySets.read('https://www.googleapis.com/oauth2/v3/certs', 'stub-1')
    await read()
    reachable = false
    await clock.advance(24 * 3_600_000 - 1)
    expect((await read()).published('stub-1')).toHaveLength(1)
    await clock.advance(1)
    await expect(read()).rejects.toThrow()
    reachable = true
    expect((await read()).published('stub-1')).toHaveLength(1)
  })

  it('are usable beside entries that are none', async () => {
    const { signIn, stub } = await providerRig()
    stub.publishBeside([
      ...[null, 'a key', 7, [], {}],
      { kty: 'RSA', kid: 'stub-1' },
      { kty: 'RSA', kid: 'stub-1', n: 7, e: 'AQAB' },
      { kty: 'oct', kid: 'stub-1', k: 'c2VjcmV0' },
      { kty: 'EC', kid: 'stub-1', crv: 'P-256', x: 'x', y: 'y' },
      { kty: 'RSA', kid: 'stub-1', n: 'AQAB', e: 'AQAB', use: 'enc' },
      { kty: 'RSA', kid: '', n: 'AQAB', e: 'AQAB' },
    ])
    expect((await signIn('google', ada)).subject).toBe('1815')
  })

  it('are each tried where several have the id that a token names', async () => {
    const { signIn, stub } = await providerRig()
    const other = await stub.foreignKey()
    const broken = { kty: 'RSA', kid: 'stub-1', n: 'AQAB', e: 'AQAB' }
    stub.publishBeside([broken, { ...other, alg: 'PS256' }, other])
    for (const id of oidc) expect((await signIn(id, ada)).subject).toBe('1815')
    stub.forge({ signature: 'foreign' })
    for (const id of oidc) expect((await signIn(id, ada)).subject).toBe('1815')
  })

  it('of one id leave a token refused that none of them signed', async () => {
    const { signIn, stub } = await providerRig()
    const other = await stub.foreignKey()
    stub.publishBeside([
      { ...other, alg: 'PS256' },
      { ...other, use: 'enc' },
    ])
    stub.forge({ signature: 'foreign' })
    await expect(signIn('google', ada)).rejects.toMatchObject({ name: 'ProviderError' })
  })

  it('of one id sign for their own tenant alone, each of them', async () => {
    const { signIn, stub } = await providerRig()
    const issuer = `https://login.microsoftonline.com/${tenants.evil}/v2.0`
    const foreign = await stub.foreignKey()
    stub.publishBeside([{ ...foreign, issuer }])
    const of = (tenant: keyof typeof tenants): Account => ({ ...ada, tenant: tenants[tenant] })
    expect((await signIn('microsoft', of('acme'))).issuer).toContain(tenants.acme)
    stub.forge({ signature: 'foreign' })
    await expect(signIn('microsoft', of('acme'))).rejects.toMatchObject({ name: 'ProviderError' })
    expect((await signIn('microsoft', of('evil'))).issuer).toContain(tenants.evil)
  })

  it('are asked for once a minute however many key ids are made up', async () => {
    const { signIn, stub, clock } = await providerRig()
    await signIn('google', ada)
    for (let n = 0; n < 50; n += 1) {
      stub.forge({ header: { kid: `made-up-${n}` } })
      await expect(signIn('google', ada)).rejects.toThrow()
    }
    expect(keyRequests(stub)).toBe(1)
    await clock.advance(60_000)
    await expect(signIn('google', ada)).rejects.toThrow()
    await expect(signIn('google', ada)).rejects.toThrow()
    expect(keyRequests(stub)).toBe(2)
  })
})

describe('Apple’s client secret', () => {
  it('is one for half an hour, and a new one for other settings', async () => {
    const { signIn, stub, clock } = await providerRig()
    const secretsSent = () =>
      new Set(
        stub.requests.flatMap(({ body }) => new URLSearchParams(body).getAll('client_secret')),
      )
    await signIn('apple', ada)
    await clock.advance(29 * 60_000)
    await signIn('apple', ada)
    expect(secretsSent().size).toBe(1)
    await clock.advance(60_000)
    await signIn('apple', ada)
    expect(secretsSent().size).toBe(2)
  })

  it('cannot be made with something that is no key, and can with a better one after', async () => {
    const { clients, stub, credentialsOf } = await providerRig()
    const redirectUri = redirectUriOf('apple')
    const good = credentialsOf('apple')
    const come = async (credentials: typeof good) => {
      const url = await clients.authorizationUrl('apple', credentials, { ...secrets, redirectUri })
      const parameters = stub.agree(url, ada)
      return clients.whoSignedIn('apple', credentials, { parameters, secrets, redirectUri })
    }
    await expect(come({ ...good, clientSecret: 'no key' })).rejects.toThrow('no good answer')
    expect(await come(good)).toMatchObject({ subject: '1815' })
  })
})
