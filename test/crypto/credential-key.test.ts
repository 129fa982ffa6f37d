import { generateKeyPairSync, type JsonWebKey } from 'node:crypto'
import * as helpers from '@simplewebauthn/server/helpers'
import { describe, expect, it } from 'vitest'
import { isUsableKey } from '../../src/crypto/webauthn.js'
import { cbor } from '../support/people/cbor.js'

const bytes = (text = '') => Buffer.from(text, 'base64url')
const of = (pair: { readonly publicKey: { export(as: { format: 'jwk' }): JsonWebKey } }) =>
  pair.publicKey.export({ format: 'jwk' })

const point = of(generateKeyPairSync('ec', { namedCurve: 'P-256' }))
const edwards = of(generateKeyPairSync('ed25519'))
const rsa = (modulusLength: number, publicExponent = 65_537) =>
  of(generateKeyPairSync('rsa', { modulusLength, publicExponent }))
const strong = rsa(2048)

type Member = readonly [number, unknown]
const es256: readonly Member[] = [
  ...([[1, 2] as const, [3, -7] as const, [-1, 1] as const] as const),
  ...([[-2, bytes(point.x)] as const, [-3, bytes(point.y)] as const] as const),
]
const eddsa: readonly Member[] = [
  ...([[1, 1] as const, [3, -8] as const] as const),
  ...([[-1, 6] as const, [-2, bytes(edwards.x)] as const] as const),
]
const rs256 = ({ n, e }: JsonWebKey): readonly Member[] => [
  ...([[1, 3] as const, [3, -257] as const] as const),
  ...([[-1, bytes(n)] as const, [-2, bytes(e)] as const] as const),
]

/** Whether it is usable, or `throws`; a throw is a refusal as well. */
function standing(members: readonly Member[]): boolean | 'throws' {
  try {
    return isUsableKey(helpers, new Uint8Array(cbor(new Map(members))))
  } catch {
    return 'throws'
  }
}

/** The same key with other members. */
const but = (members: readonly Member[], ...others: readonly Member[]): readonly Member[] => [
  ...new Map([...members, ...others]),
]

describe('the key of a new passkey', () => {
  it.each([
    ['ES256', es256],
    ['EdDSA', eddsa],
    ['RS256', rs256(strong)],
  ])('is one that signatures can be verified with: %s (WebAuthn §7.1)', (_, members) => {
    expect(standing(members)).toBe(true)
  })

  it.each([
    ['a curve of the other type', but(es256, [-1, 6])],
    ['the curve of ES256 with EdDSA', but(eddsa, [-1, 1])],
    ['the algorithm of another type', but(es256, [3, -257])],
    ['no algorithm', es256.filter(([label]) => label !== 3)],
    ['a type that none of the three has', but(es256, [1, 4])],
    ['RSA of 1024 bits', rs256(rsa(1024))],
    ['RSA with the exponent 3', rs256(rsa(2048, 3))],
    ['RSA without an exponent', but(rs256(strong), [-2, 7])],
  ])('is not %s (WebAuthn §7.1)', (_, members) => {
    expect(standing(members)).toBe(false)
  })

  it.each([
    ['a point that is not on its curve', but(es256, [-3, bytes(point.x)])],
    ['a coordinate that ends too early', but(es256, [-3, bytes(point.y).subarray(0, 29)])],
    ['a coordinate that is no bytes', but(es256, [-2, 'x'])],
    ['an Ed25519 key that ends too early', but(eddsa, [-2, bytes(edwards.x).subarray(0, 31)])],
  ])('is not %s (WebAuthn §7.1)', (_, members) => {
    expect(standing(members)).toBe('throws')
  })
})
