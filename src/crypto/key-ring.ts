import {
  createPrivateKey,
  createPublicKey,
  hash,
  type KeyObject,
  sign as signBytes,
} from 'node:crypto'
import { loadPart, OptionsError } from '../errors/index.js'
import { type HeaderReader, headerReader, headerTypes } from './token-format.js'

/**
 * The keys that sign and verify tokens, as PEM text. `generateSigningKey()` makes one.
 *
 * To rotate without signing users out, publish the new key as `next`. When every replica has it, make
 * it `current` and put the old key into `previous`. Drop the old key once the last token that it
 * signed has expired.
 */
export interface KeyRing {
  /**
   * Signs new tokens. An RSA private key in PKCS#8 PEM of 3072 bits, at least 2048. With `sign`, the public half alone,
   * in SPKI PEM.
   */
  readonly current: string
  /** Published and accepted, but not signing yet. In the form of `current`. */
  readonly next?: string
  /**
   * Signs with the private half of `current`, which stays in an HSM or a KMS. Resolves to the bytes of the signature.
   * Each is verified. One that is wrong, fails or takes longer than `backendTimeout` is a 503 of its request, and an
   * `OptionsError` of `createAuth`, which asks for a first one. At most 64 are asked for at once in a process.
   */
  readonly sign?: SignElsewhere
  /** Only accepted. Public keys in SPKI PEM, or the former private keys. */
  readonly previous?: readonly string[]
}

export interface LoadedKeyRing {
  /** The `kid` of the signing key. */
  readonly kid: string
  readonly signer: RingSigner
  readonly verifyingKeys: ReadonlyMap<string, KeyObject>
  readonly readHeader: HeaderReader
  /** Sentences for the host's log; empty when every key is as strong as recommended. */
  readonly warnings: readonly string[]
  /** The reply of `GET …/jwks` (RFC 7517): public members only, new objects for each call. */
  jwks(): PublicJwks
}

const recommendedBits = 3072

/**
 * Checks the host's keys and makes them ready for use. Rejects with an `OptionsError` that names
 * the option and the remedy, and never repeats key material.
 */
export async function loadKeyRing(
  ring: KeyRing,
  remote: SignsRemotely = unbounded,
): Promise<LoadedKeyRing> {
  checkShape(ring)
  const { current, signer } = signing(ring, remote)
  const keys = [current, ...describeOthers(ring)]
  const verifyingKeys = byKid(keys)
  return {
    kid: current.jwk.kid,
    signer,
    verifyingKeys,
    readHeader: headerReader(verifyingKeys, Object.values(headerTypes)),
    warnings: keys.filter((key) => key.bits < recommendedBits).map(weakness),
    jwks: () => ({ keys: keys.map((key) => ({ ...key.jwk })) }),
  }
}

/** The way to the signatures of a key that is kept elsewhere. */
export type SignsRemotely = (key: RemoteKey) => RingSigner['sign']

/** The key that signs, and the way to its signatures. */
function signing(
  { current: pem, sign }: KeyRing,
  remote: SignsRemotely,
): { readonly current: RingKey; readonly signer: RingSigner } {
  const option = 'keys.current'
  if (sign === undefined) {
    const key = parsePrivateKey(option, pem)
    return { current: describeKey(option, createPublicKey(key)), signer: signerOf(key) }
  }
  const current = describeKey(option, parsePublicHalf(option, pem))
  const { publicKey, jwk } = current
  const signs = remote({ kid: jwk.kid, publicKey, sign })
  return { current, signer: { sign: signs, isElsewhere: true } }
}

/** As the host's function signs, without a bound. */
const unbounded: SignsRemotely =
  ({ kid, sign }) =>
  (data) =>
    sign({ kid, alg: 'RS256', data, signal: new AbortController().signal })

/** A ring often comes from a host's function that no compiler has checked. */
function checkShape(ring: unknown): void {
  if (typeof ring !== 'object' || ring === null) {
    throw new OptionsError('keys', 'must be an object { current, next?, previous? } of PEM texts')
  }
  if ('sign' in ring && ring.sign !== undefined && typeof ring.sign !== 'function') {
    throw new OptionsError(
      'keys.sign',
      'must be a function that resolves to the bytes of a signature',
    )
  }
  if ('previous' in ring && ring.previous !== undefined && !Array.isArray(ring.previous)) {
    throw new OptionsError('keys.previous', 'must be an array of PEM texts')
  }
}

function describeOthers({ next, previous = [], sign }: KeyRing): RingKey[] {
  const found: RingKey[] = []
  if (next !== undefined) {
    const key =
      sign === undefined
        ? createPublicKey(parsePrivateKey('keys.next', next))
        : parsePublicKey('keys.next', next)
    found.push(describeKey('keys.next', key))
  }
  for (const [index, pem] of previous.entries()) {
    const option = `keys.previous[${index}]`
    found.push(describeKey(option, parsePublicKey(option, pem)))
  }
  return found
}

/** A key in two places means a mistake in a rotation, such as the old key as `next`. */
function byKid(keys: readonly RingKey[]): ReadonlyMap<string, KeyObject> {
  const map = new Map<string, RingKey>()
  for (const key of keys) {
    const same = map.get(key.jwk.kid)
    if (same !== undefined) {
      throw new OptionsError(key.option, `holds the same key as ${same.option}: keep only one`)
    }
    map.set(key.jwk.kid, key)
  }
  return new Map([...map].map(([kid, key]) => [kid, key.publicKey]))
}

function weakness({ option, bits }: RingKey): string {
  return `${option} has ${bits} bits; rotate to a key of ${recommendedBits} bits or more`
}

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
function parsePrivateKey(option: string, pem: unknown): KeyObject {
  return parse(option, pem, createPrivateKey, 'an unencrypted RSA private key in PKCS#8 PEM')
}

/** The public key of an option that holds either half of the pair; a private half is let go. */
function parsePublicKey(option: string, pem: unknown): KeyObject {
  return parse(option, pem, createPublicKey, 'an RSA key in SPKI or unencrypted PKCS#8 PEM')
}

/** The public key of an option that must hold no private half: that one is kept elsewhere. */
function parsePublicHalf(option: string, pem: unknown): KeyObject {
  if (typeof pem === 'string' && /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem)) {
    throw new OptionsError(
      option,
      'must be the public half (SPKI PEM) of the key that keys.sign signs with',
    )
  }
  return parse(option, pem, createPublicKey, 'an RSA public key in SPKI PEM')
}

/** Refuses keys that RS256 cannot use or that are too weak, and names the others. */
function describeKey(option: string, publicKey: KeyObject): RingKey {
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

/** The bytes to sign, for a key that the host keeps elsewhere. */
export interface SigningInput {
  /** The id of the current key: its RFC 7638 thumbprint, as `GET …/jwks` lists it. */
  readonly kid: string
  /** RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518 §3.3). */
  readonly alg: 'RS256'
  /** The bytes to be hashed and signed, at most 8 KiB. */
  readonly data: Uint8Array
  /** Aborted once the library no longer waits for the signature. */
  readonly signal: AbortSignal
}

/** Signs with a key that this process does not hold, such as one of an HSM or a KMS. */
export type SignElsewhere = (input: SigningInput) => Promise<Uint8Array>

/** How a ring signs. The members change where the host's function gives the same keys with another signer. */
export interface RingSigner {
  sign: (data: Uint8Array) => Promise<Uint8Array>
  /** Whether signing leaves the process, and so may fail at any time. */
  isElsewhere: boolean
}

/** A key of the host's that signs elsewhere. */
export interface RemoteKey {
  readonly kid: string
  readonly publicKey: KeyObject
  readonly sign: SignElsewhere
}

/** Signs with a private key of this process, in the thread pool: a signature is 95 % of what minting costs. */
function signerOf(key: KeyObject): RingSigner {
  const sign = (data: Uint8Array) =>
    new Promise<Uint8Array>((resolve, reject) => {
      signBytes('RSA-SHA256', data, key, (error, bytes) => {
        if (error) reject(error)
        else resolve(bytes)
      })
    })
  return { sign, isElsewhere: false }
}

/**
 * Makes a private key for `keys.current` or `keys.next`: RSA-3072 in PKCS#8 PEM. Store it with your
 * other secrets; the library stores no private keys. Takes up to a second in another thread.
 */
export async function generateSigningKey(): Promise<string> {
  const { exportPKCS8, generateKeyPair } = await loadPart('jose', () => import('jose'))
  const { privateKey } = await generateKeyPair('RS256', { modulusLength: 3072, extractable: true })
  return exportPKCS8(privateKey)
}
