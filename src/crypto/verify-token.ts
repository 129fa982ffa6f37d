import { verify } from 'node:crypto'
import type { Audience } from '../ports/surface.js'
import { decodeSegment } from './decode-segment.js'
import type { LoadedKeyRing } from './key-ring.js'
import {
  type ClaimsByUse,
  headerTypes,
  maxTokenLength,
  type Payload,
  readClaims,
  type TokenUse,
} from './token-claims.js'
import { decodeObject } from './token-segment.js'

export type { AccessClaims, RefreshClaims } from './token-claims.js'

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
  | { readonly ok: false; readonly reason: 'invalid' | 'audience' }
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
  if (audience === null) return { ok: false, reason: 'audience' }
  const claims = readClaims[use](payload, issuer, audience)
  if (claims === null || !hasBegun(payload, expected)) return invalid
  const isEarly = expected.now < (claims.iat - maxIssuedAhead) * 1000
  if (isEarly) return { ok: false, reason: 'early', claims }
  const lastMoment = (claims.exp + leewayOf(expected)) * 1000
  const isInTime = expected.now < lastMoment
  return isInTime ? { ok: true, claims, kid } : { ok: false, reason: 'expired', claims }
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

function leewayOf({ leewaySeconds }: Expected<TokenUse>): number {
  return Math.min(leewaySeconds, maxLeewaySeconds)
}
