import { createPublicKey, type KeyObject } from 'node:crypto'
import { OptionsError } from '../errors/index.js'
import {
  describeKey,
  type PublicJwks,
  parsePrivateKey,
  parsePublicHalf,
  parsePublicKey,
  type RingKey,
} from './ring-key.js'
import { type RemoteKey, type RingSigner, type SignElsewhere, signerOf } from './ring-signer.js'
import { headerTypes } from './token-claims.js'
import { type HeaderReader, headerReader } from './token-header.js'

export type { PublicJwks } from './ring-key.js'
export type { SignElsewhere, SigningInput } from './ring-signer.js'

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
  remote: () => Promise<SignsRemotely> = async () => unbounded,
): Promise<LoadedKeyRing> {
  checkShape(ring)
  const { current, signer } = await signing(ring, remote)
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
async function signing(
  { current: pem, sign }: KeyRing,
  remote: () => Promise<SignsRemotely>,
): Promise<{ readonly current: RingKey; readonly signer: RingSigner }> {
  const option = 'keys.current'
  if (sign === undefined) {
    const key = parsePrivateKey(option, pem)
    return { current: describeKey(option, createPublicKey(key)), signer: signerOf(key) }
  }
  const current = describeKey(option, parsePublicHalf(option, pem))
  const { publicKey, jwk } = current
  const signs = (await remote())({ kid: jwk.kid, publicKey, sign })
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
