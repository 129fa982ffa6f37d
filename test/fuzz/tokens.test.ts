import assert from 'node:assert/strict'
import { constants, createPrivateKey, sign } from 'node:crypto'
import { expect } from 'vitest'
import { loadKeyRing } from '../../src/crypto/key-ring.js'
import { headerTypes, type TokenUse } from '../../src/crypto/token-format.js'
import { verifyToken } from '../../src/crypto/tokens.js'
import { accessClaims, issuer, now, refreshClaims, second } from '../crypto/claims.js'
import { encode, forgeHmac, forgeSegments, rsaPair } from '../crypto/forge.js'
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

const keys = { current: rsaPair(), previous: rsaPair(), stranger: rsaPair() }
const ring = await loadKeyRing({
  current: keys.current.privateKey,
  previous: [keys.previous.publicKey],
})
const [currentKid = '', previousKid = ''] = ring.jwks().keys.map(({ kid }) => kid)
const kids = { current: currentKid, previous: previousKid, stranger: 'stranger' } as const

const names = ['current', 'current', 'current', 'previous', 'stranger'] as const
const uses = ['access', 'refresh'] as const

/** One member in four is another one than an honest signer would write. */
function headerOf(draw: Draw, signer: keyof typeof keys, use: TokenUse) {
  const odd = <T>(honest: T, others: readonly T[]): T =>
    draw(8) === 0 ? oneOf(draw, others) : honest
  const header = {
    alg: odd('RS256', ['none', 'None', 'HS256', 'PS256', 'RS512', '']),
    kid: odd<string>(kids[signer], [currentKid, previousKid, '', '__proto__', '../../dev/null']),
    typ: odd<string>(headerTypes[use], ['JWT', 'at+jwt', 'rt+jwt', 'AT+JWT']),
  }
  const more = {
    jwk: ring.jwks().keys[0],
    jku: 'https://evil.example/jwks',
    crit: ['exp'],
    x5c: [],
  }
  const name = oneOf(draw, ['jwk', 'jku', 'crit', 'x5c'] as const)
  return draw(12) === 0 ? { ...header, [name]: more[name] } : header
}

function claimsOf(draw: Draw, use: TokenUse) {
  const changes = [
    ...[{}, {}, {}, {}, { aud: 'client' }, { aud: ['operator'] }, { aud: ['operator', 'client'] }],
    ...[
      { iss: 'https://evil.example' },
      { exp: second - 1 },
      { exp: second },
      { exp: `${second}` },
    ],
    ...[{ iat: second + 30 }, { iat: second + 90, exp: second + 900 }, { nbf: second + 5 }],
    ...[{ tokenUse: 'access' }, { tokenUse: 'refresh' }, { sub: '' }, { sid: undefined }],
    ...[{ sub: 'user-2' }, { amr: 'pwd' }, { gen: 0 }, { role: 'operator' }],
  ]
  const honest = use === 'access' ? accessClaims() : refreshClaims()
  return { ...honest, jti: `token-${draw(1e9)}`, ...oneOf(draw, changes), ...oneOf(draw, changes) }
}

function make(draw: Draw): Made {
  const use = oneOf(draw, uses)
  const signer = oneOf(draw, names)
  const [header, claims] = [headerOf(draw, signer, use), claimsOf(draw, use)]
  const [first, middle] = [encode(header), encode(claims)]
  const { privateKey, publicKey } = keys[signer]
  const kind = draw(12)
  if (kind === 0) return { header, claims, signer: null, token: `${first}.${middle}.` }
  if (kind === 1)
    return { header, claims, signer: null, token: forgeHmac(header, claims, publicKey) }
  if (kind === 2) {
    const key = { key: createPrivateKey(privateKey), padding: constants.RSA_PKCS1_PSS_PADDING }
    const signature = sign('RSA-SHA256', Buffer.from(`${first}.${middle}`), key)
    const token = `${first}.${middle}.${signature.toString('base64url')}`
    return { header, claims, signer: null, token }
  }
  return { header, claims, signer, token: forgeSegments(first, middle, privateKey) }
}

const next = randomOf('tokens')
const pool = Array.from({ length: 600 }, () => make((below) => Math.floor(next() * below)))
const byToken = new Map(pool.map((made) => [made.token, made]))
const tokens = pool.map(({ token }) => token)

/** As it was made, changed as a text, or put together of several. */
function tokenOf(draw: Draw): string {
  const kind = draw(4)
  if (kind === 0) return changedText(draw, tokens)
  if (kind === 1) return [0, 1, 2].map((at) => oneOf(draw, tokens).split('.')[at]).join('.')
  return oneOf(draw, tokens)
}

/** The token as one of our keys signed it, under its own name and as this use. */
function expectOurs(token: string, use: TokenUse): Made['claims'] {
  const made = byToken.get(token)
  assert.ok(made, 'nobody signed it')
  expect(['current', 'previous']).toContain(made.signer)
  expect(made.header).toEqual({
    alg: 'RS256',
    kid: made.signer === null ? '' : kids[made.signer],
    typ: headerTypes[use],
  })
  expect(made.claims).toMatchObject({ iss: issuer, tokenUse: use })
  return made.claims
}

for (const use of uses) {
  fuzz({
    name: `a token of ${use}, which is what our key signed for this use and surface, unexpired`,
    input: tokenOf,
    takes(token) {
      const asked = { ring, issuer, use, accepts: ['operator'], now, leewaySeconds: 0 } as const
      const read = verifyToken(token, asked)
      // An expired one is believed by the logout.
      if (!read.ok && read.reason !== 'expired') return false
      const signed = expectOurs(token, use)
      expect(signed).toMatchObject({ ...read.claims, aud: signed['aud'] })
      expect([signed['aud']].flat()).toEqual(['operator'])
      expect(Number(signed['exp']) * 1000 > now).toBe(read.ok)
      return read.ok
    },
  })
}
