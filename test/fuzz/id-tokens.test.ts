import assert from 'node:assert/strict'
import { createHmac, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { expect } from 'vitest'
import { google } from '../../src/identity-providers/google.js'
import { createKeySets } from '../../src/identity-providers/key-sets.js'
import { outboundOf } from '../../src/identity-providers/outbound.js'
import { verifyIdToken } from '../../src/identity-providers/provider-sign-in.js'
import { fakeClock } from '../../src/testing/fake-clock.js'
import { encode, forgeSegments, rsaPair } from '../crypto/forge.js'
import { randomOf } from '../reliability/random-of.js'
import { changedText } from './changed.js'
import { type Draw, fuzz, oneOf } from './fuzz.js'

/** How a token was made. */
interface Made {
  readonly token: string
  readonly header: Readonly<Record<string, unknown>>
  readonly claims: Readonly<Record<string, unknown>>
  /** The key that signed it with RS256; null for every other signature. */
  readonly signer: keyof typeof keys | null
}

/** Two of the provider’s, one that the provider publishes for something else, and one that it does not know. */
const keys = { one: rsaPair(), two: rsaPair(), sealing: rsaPair(), stranger: rsaPair() }
const clock = fakeClock(Date.UTC(2026, 0, 1))
const second = clock.now() / 1000
const nonce = 'no-1'
const clientId = 'client-1'

const published = (kid: keyof typeof keys, more: object) => ({
  ...createPublicKey(keys[kid].publicKey).export({ format: 'jwk' }),
  kid,
  ...more,
})
const elliptic = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey
const secret = Buffer.from('a secret that the provider should not publish').toString('base64url')
const jwks = {
  keys: [
    published('one', { alg: 'RS256', use: 'sig' }),
    published('two', {}),
    published('sealing', { use: 'enc' }),
    { ...elliptic.export({ format: 'jwk' }), kid: 'elliptic' },
    { kty: 'oct', k: secret, kid: 'shared' },
    ...[null, 'a text', { kty: 'RSA', kid: 'empty', n: '', e: '' }],
  ],
}

const fetcher = { fetch: async () => ({ status: 200, body: JSON.stringify(jwks) }) }
const keySets = createKeySets({ outbound: outboundOf(fetcher), clock })
const credentials = { clientId, clientSecret: 's', tenant: '', teamId: '', keyId: '' }
const expected = { provider: google, endpoints: google.endpoints, credentials, nonce }

const issuers = [google.endpoints.issuer, 'accounts.google.com']
const honest = {
  iss: google.endpoints.issuer,
  aud: clientId,
  sub: '1815',
  nonce,
  iat: second - 5,
  exp: second + 600,
}

function headerOf(draw: Draw, signer: keyof typeof keys) {
  const odd = <T>(usual: T, others: readonly T[]): T =>
    draw(8) === 0 ? oneOf(draw, others) : usual
  const header = {
    alg: odd('RS256', ['none', 'HS256', 'PS256', 'ES256', '']),
    kid: odd<string>(signer, ['one', 'two', 'shared', 'elliptic', 'empty', '', '__proto__']),
  }
  const own = createPublicKey(keys[signer].publicKey).export({ format: 'jwk' })
  const more = [{ jwk: own }, { jku: 'https://evil.example/jwks' }, { crit: ['b64'], b64: false }]
  return draw(10) === 0 ? { ...header, ...oneOf(draw, more) } : header
}

function claimsOf(draw: Draw) {
  const changes = [
    ...[{}, {}, {}, {}, { iss: 'accounts.google.com' }, { iss: 'https://evil.example' }],
    ...[{ aud: [clientId] }, { aud: [clientId, 'other'] }, { aud: 'other' }, { azp: 'other' }],
    ...[{ aud: [clientId, 'other'], azp: clientId }, { nonce: 'no-2' }, { nonce: undefined }],
    ...[
      { exp: second - 61 },
      { exp: `${second + 600}` },
      { iat: second - 700 },
      { sub: undefined },
    ],
    ...[{ iat: second + 90 }, { nbf: second + 90 }, { exp: second - 30 }],
  ]
  return { ...honest, jti: draw(1e9), ...oneOf(draw, changes), ...oneOf(draw, changes) }
}

function make(draw: Draw): Made {
  const signer = oneOf(draw, ['one', 'one', 'two', 'two', 'sealing', 'stranger'] as const)
  const [header, claims] = [headerOf(draw, signer), claimsOf(draw)]
  const [first, middle] = [encode(header), encode(claims)]
  const kind = draw(12)
  if (kind === 0) return { header, claims, signer: null, token: `${first}.${middle}.` }
  if (kind < 3) {
    const guessed = kind === 1 ? keys.one.publicKey : Buffer.from(secret, 'base64url')
    const mac = createHmac('sha256', guessed).update(`${first}.${middle}`).digest('base64url')
    return { header, claims, signer: null, token: `${first}.${middle}.${mac}` }
  }
  const token = forgeSegments(first, middle, keys[signer].privateKey)
  return { header, claims, signer, token }
}

const next = randomOf('ID tokens')
const pool = Array.from({ length: 400 }, () => make((below) => Math.floor(next() * below)))
const tokens = pool.map(({ token }) => token)
/** By what is signed: of one signature, decoders know several spellings. */
const signedText = (token: string): string => token.split('.').slice(0, 2).join('.')
const bySigned = new Map(pool.map((made) => [signedText(made.token), made]))

function tokenOf(draw: Draw): string {
  const kind = draw(4)
  if (kind === 0) return changedText(draw, tokens)
  if (kind === 1) return [0, 1, 2].map((at) => oneOf(draw, tokens).split('.')[at]).join('.')
  return oneOf(draw, tokens)
}

fuzz({
  name: 'an ID token, which is what the provider signed for this client and sign-in, of now',
  input: tokenOf,
  async takes(token) {
    const read = await verifyIdToken(token, expected, { keySets, clock }).catch(
      (error: unknown) => {
        expect(error).toBeInstanceOf(Error)
        return null
      },
    )
    if (read === null) return false
    const made = bySigned.get(signedText(token))
    assert.ok(made, 'nobody signed it')
    expect(['one', 'two']).toContain(made.signer)
    expect(made.header).toMatchObject({ alg: 'RS256', kid: made.signer })
    expect(Object.keys(made.header)).not.toContain('crit')
    expect(read.claims).toEqual(JSON.parse(JSON.stringify(made.claims)))
    expect(issuers).toContain(read.issuer)
    const { iss, aud, azp, sub, nonce: shown, iat, exp } = read.claims
    expect({ iss, sub, shown }).toEqual({ iss: read.issuer, sub: '1815', shown: nonce })
    expect([aud].flat()).toContain(clientId)
    expect([undefined, clientId]).toContain(azp)
    if (Array.isArray(aud) && aud.length > 1) expect(azp).toBe(clientId)
    expect(Number(exp) > second - 60 && Number(iat) > second - 661).toBe(true)
    expect(Number(iat)).toBeLessThanOrEqual(second + 60)
    return true
  },
})
