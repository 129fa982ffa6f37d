import { createPrivateKey, createPublicKey, hash, type KeyObject } from 'node:crypto'
import { OptionsError } from '../errors/index.js'

/** A public key as published (RFC 7517). */
export interface PublicJwk {
  readonly kty: 'RSA'
  readonly n: string
  readonly e: string
  /** The key's RFC 7638 thumbprint. */
  readonly kid: string
  readonly alg: 'RS256'
  readonly use: 'sig'
}

/** A JSON Web Key Set. */
export interface PublicJwks {
  readonly keys: readonly PublicJwk[]
}

export interface RingKey {
  /** The path of the option it came from. */
  readonly option: string
  readonly publicKey: KeyObject
  readonly jwk: PublicJwk
  readonly bits: number
}

const minimumBits = 2048
/** FIPS 186-5 §5.4 wants an exponent above 2^16. */
const minimumExponent = 65_537n
const remedy = 'make a new key with generateSigningKey()'

/** The private key of an option. `OptionsError` says what is wrong without repeating OpenSSL. */
export function parsePrivateKey(option: string, pem: unknown): KeyObject {
  return parse(option, pem, createPrivateKey, 'an unencrypted RSA private key in PKCS#8 PEM')
}

/** The public key of an option that holds either half of the pair; a private half is let go. */
export function parsePublicKey(option: string, pem: unknown): KeyObject {
  return parse(option, pem, createPublicKey, 'an RSA key in SPKI or unencrypted PKCS#8 PEM')
}

/** The public key of an option that must hold no private half: that one is kept elsewhere. */
export function parsePublicHalf(option: string, pem: unknown): KeyObject {
  if (typeof pem === 'string' && /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem)) {
    throw new OptionsError(
      option,
      'must be the public half (SPKI PEM) of the key that keys.sign signs with',
    )
  }
  return parse(option, pem, createPublicKey, 'an RSA public key in SPKI PEM')
}

/** Refuses keys that RS256 cannot use or that are too weak, and names the others. */
export function describeKey(option: string, publicKey: KeyObject): RingKey {
  const type = publicKey.asymmetricKeyType
  if (type !== 'rsa') {
    throw new OptionsError(option, `is of type ${type}, but RS256 needs a plain RSA key: ${remedy}`)
  }
  const { modulusLength: bits = 0, publicExponent = 0n } = publicKey.asymmetricKeyDetails ?? {}
  if (bits < minimumBits) {
    throw new OptionsError(option, `has ${bits} bits, but needs ${minimumBits} at least: ${remedy}`)
  }
  if (publicExponent < minimumExponent) {
    throw new OptionsError(option, `has a public exponent below ${minimumExponent}: ${remedy}`)
  }
  const { n = '', e = '' } = publicKey.export({ format: 'jwk' })
  const kid = thumbprint(n, e)
  return { option, publicKey, bits, jwk: { kty: 'RSA', n, e, kid, alg: 'RS256', use: 'sig' } }
}

/** RFC 7638 §3: the required members alone, in the order of their names. */
function thumbprint(n: string, e: string): string {
  return hash('sha256', JSON.stringify({ e, kty: 'RSA', n }), 'base64url')
}

function parse(
  option: string,
  pem: unknown,
  read: (pem: string) => KeyObject,
  expected: string,
): KeyObject {
  try {
    if (typeof pem === 'string') return read(pem)
  } catch {
    // OpenSSL's error tells the host nothing it can act on, and might quote its input.
  }
  throw new OptionsError(
    option,
    `must be ${expected}, its line breaks kept; generateSigningKey() makes one`,
  )
}
