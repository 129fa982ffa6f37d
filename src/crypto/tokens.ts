import { type KeyObject, verify } from 'node:crypto'
import type { Audience } from '../ports/surface.js'
import type { LoadedKeyRing } from './key-ring.js'
import {
  type AccessClaims,
  type ClaimsByUse,
  decodeObject,
  decodeSegment,
  headerTypes,
  maxTokenLength,
  type Payload,
  type RefreshClaims,
  readClaims,
  type TokenUse,
} from './token-format.js'

/**
 * An access token of these claims, signed with the ring's current key. Rejects with a `TypeError`
 * for claims that would not verify, and with a `RangeError` when there are so many memberships
 * that the token would be too long to be accepted.
 *
 * `clientId` and the time of the login under its registered name are for other services (RFC 9068 §2.2).
 * Nothing here is decided by them, so they are not read again.
 */
export function signAccess(
  claims: AccessClaims,
  ring: LoadedKeyRing,
  clientId: string = claims.aud,
): Promise<string> {
  return sign('access', claims, ring, { auth_time: claims.authTime, client_id: clientId })
}

/** A refresh token of these claims; otherwise as `signAccess`. */
export function signRefresh(claims: RefreshClaims, ring: LoadedKeyRing): Promise<string> {
  return sign('refresh', claims, ring)
}

/**
 * Goes through the reader of the verifier, so that nothing is minted that we would refuse, and
 * nothing beside the known claims gets into a token.
 */
async function sign<U extends TokenUse>(
  use: U,
  claims: ClaimsByUse[U],
  ring: LoadedKeyRing,
  forOthers: object = {},
): Promise<string> {
  const minted = readClaims[use]({ ...claims }, claims.iss, claims.aud)
  if (minted === null)
    throw new TypeError(`The ${use} token's claims are not of the expected form.`)
  const header = segment({ alg: 'RS256', kid: ring.kid, typ: headerTypes[use] })
  const signed = `${header}.${segment({ ...minted, ...forOthers })}`
  const token = `${signed}.${await signature(signed, ring)}`
  if (token.length > maxTokenLength) {
    throw new RangeError(`The ${use} token would be longer than ${maxTokenLength} characters.`)
  }
  return token
}

function segment(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

/** RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518 §3.3). */
async function signature(text: string, { signer }: LoadedKeyRing): Promise<string> {
  const { buffer, byteOffset, byteLength } = await signer.sign(Buffer.from(text))
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64url')
}

export type { AccessClaims, RefreshClaims } from './token-format.js'

/** What a token has to be. */
export interface Expected<U extends TokenUse> {
  readonly ring: LoadedKeyRing
  readonly issuer: string
  readonly use: U
  readonly accepts: readonly Audience[]
  /** Epoch milliseconds. */
  readonly now: number
  /** How long past `exp`, or ahead of `nbf`, a token still passes. Never more than 60 counts. */
  readonly leewaySeconds: number
}

/**
 * `kid` is that of the key that signed. Reasons of a refusal:
 * - `invalid`: not a token of ours for this use. Nothing in it can be believed.
 * - `audience`: one of ours, for another surface; expired or not.
 * - `expired`: one of ours for this surface, too late. Its claims are genuine: a logout may use them.
 * - `early`: one of ours for this surface, issued in the future, because a clock of ours is wrong. Its claims are genuine.
 */
export type Verified<C> =
  | { readonly ok: true; readonly claims: C; readonly kid: string }
  | { readonly ok: false; readonly reason: 'invalid' }
  | { readonly ok: false; readonly reason: 'audience'; readonly isExpired: boolean }
  | { readonly ok: false; readonly reason: 'expired' | 'early'; readonly claims: C }

const maxLeewaySeconds = 60
/** How far in the future a token may have been issued: replicas' clocks differ. */
const maxIssuedAhead = 60

const invalid = { ok: false, reason: 'invalid' } as const

/**
 * Judges an access or refresh token: signature, type and issuer first, then audience, then time.
 * Never throws for a bad token, whatever it is.
 *
 * Synchronous on purpose. An RS256 check costs tens of microseconds; WebCrypto would queue it in
 * the thread pool behind password hashes, and a login flood would stall every protected route.
 */
export function verifyToken<U extends TokenUse>(
  token: unknown,
  expected: Expected<U>,
): Verified<ClaimsByUse[U]> {
  const { use, issuer, accepts } = expected
  const signed = authenticate(token, expected.ring, headerTypes[use])
  if (signed === null) return invalid
  const { payload, kid } = signed
  if (payload['iss'] !== issuer || payload['tokenUse'] !== use) return invalid
  const named = audiencesOf(payload['aud'])
  if (named === null) return invalid
  const audience = admit(named, accepts)
  if (audience === null) {
    const isInTime =
      Number.isSafeInteger(payload['exp']) && isBefore(Number(payload['exp']), expected)
    return { ok: false, reason: 'audience', isExpired: !isInTime }
  }
  const claims = readClaims[use](payload, issuer, audience)
  if (claims === null || !hasBegun(payload, expected)) return invalid
  const isEarly = expected.now < (claims.iat - maxIssuedAhead) * 1000
  if (isEarly) return { ok: false, reason: 'early', claims }
  return isBefore(claims.exp, expected)
    ? { ok: true, claims, kid }
    : { ok: false, reason: 'expired', claims }
}

interface Signed {
  readonly payload: Payload
  readonly kid: string
}

/** The payload, once the signature proves that we wrote it; null otherwise. */
function authenticate(token: unknown, ring: LoadedKeyRing, typ: string): Signed | null {
  if (typeof token !== 'string' || token.length > maxTokenLength) return null
  const first = token.indexOf('.')
  const second = token.indexOf('.', first + 1)
  // A third dot ends up in the signature, where no canonical base64url has one.
  if (first < 0 || second < 0) return null
  const header = ring.readHeader(token.slice(0, first))
  const signature = decodeSegment(token.slice(second + 1))
  if (header === null || header.typ !== typ || signature === null) return null
  const signed = Buffer.from(token.slice(0, second))
  if (!verify('RSA-SHA256', signed, header.key, signature)) return null
  const payload = decodeObject(token.slice(first + 1, second))
  return payload === null ? null : { payload, kid: header.kid }
}

/** `aud` as a list; null when it is not one string or some strings. */
function audiencesOf(aud: unknown): readonly string[] | null {
  if (typeof aud === 'string') return [aud]
  if (!Array.isArray(aud) || aud.length === 0) return null
  return aud.every((name) => typeof name === 'string') ? aud : null
}

/**
 * The audience to treat the token as, when every one it names is accepted; else null. In a list,
 * `service` goes before the surface, because less is open to a service account.
 */
function admit(named: readonly string[], accepts: readonly Audience[]): Audience | null {
  let admitted: Audience | null = null
  for (const name of named) {
    const audience = accepts.find((accepted) => accepted === name)
    if (audience === undefined) return null
    if (admitted !== 'service') admitted = audience
  }
  return admitted
}

function hasBegun({ nbf }: Payload, expected: Expected<TokenUse>): boolean {
  if (nbf === undefined) return true
  return Number.isSafeInteger(nbf) && expected.now >= (Number(nbf) - leewayOf(expected)) * 1000
}

function isBefore(exp: number, expected: Expected<TokenUse>): boolean {
  return expected.now < (exp + leewayOf(expected)) * 1000
}

function leewayOf({ leewaySeconds }: Expected<TokenUse>): number {
  return Math.min(leewaySeconds, maxLeewaySeconds)
}

/** RFC 7638 with SHA-256, as every key of ours is named. */
const thumbprint = /^[\w-]{43}$/

/**
 * The `kid` of a token that says it was signed, as ours are, with a key that the ring does not hold;
 * else null. Its signature cannot be checked, so this proves nothing about the token.
 */
export function unknownKeyOf(token: string, { verifyingKeys }: LoadedKeyRing): string | null {
  if (token.length > maxTokenLength) return null
  const header = decodeObject(token.slice(0, Math.max(0, token.indexOf('.'))))
  const kid = header?.['alg'] === 'RS256' ? header['kid'] : null
  return typeof kid === 'string' && thumbprint.test(kid) && !verifyingKeys.has(kid) ? kid : null
}

/** Whether it is the RS256 signature (RFC 7518 §3.3) of this key over these bytes. */
export function isSignatureOf(publicKey: KeyObject, data: Uint8Array, signature: unknown): boolean {
  return signature instanceof Uint8Array && verify('RSA-SHA256', data, publicKey, signature)
}
