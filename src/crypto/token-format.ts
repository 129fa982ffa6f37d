import { isUtf8 } from 'node:buffer'
import type { KeyObject } from 'node:crypto'
import type { Audience, Surface } from '../ports/surface.js'

export interface TokenHeader {
  /** The ring's key named by `kid`: no key ever comes from the token. */
  readonly key: KeyObject
  readonly kid: string
  readonly typ: string
}

/** A token's first segment, or null when it is not one we sign under. */
export type HeaderReader = (segment: string) => TokenHeader | null

/**
 * Reads headers of exactly `alg` (RS256), `kid` (one of `keys`) and `typ`. Having no further
 * member rules out `crit`, `b64`, `jku`, `jwk`, `x5u`, `x5c`, `zip` and any later member
 * (RFC 8725 §3.1, §3.10).
 *
 * Headers that passed are remembered, because every token of a key has the same one. No signature
 * protects that memory, so it must be bounded by itself: all three values are ours, and three
 * members have six orders.
 */
export function headerReader(
  keys: ReadonlyMap<string, KeyObject>,
  types: readonly string[],
): HeaderReader {
  const known = new Map<string, TokenHeader>()
  return (segment) => {
    const remembered = known.get(segment)
    if (remembered !== undefined) return remembered
    const header = readHeader(segment, keys, types)
    // A copy: in V8, a part of a string keeps the whole string in memory, here the token of a user.
    if (header !== null) known.set(Buffer.from(segment).toString(), header)
    return header
  }
}

function readHeader(
  segment: string,
  keys: ReadonlyMap<string, KeyObject>,
  types: readonly string[],
): TokenHeader | null {
  const header = decodeObject(segment)
  if (header === null || Object.keys(header).length !== 3) return null
  const { alg, kid, typ } = header
  if (alg !== 'RS256' || typeof kid !== 'string' || typeof typ !== 'string') return null
  const key = keys.get(kid)
  return key !== undefined && types.includes(typ) ? { key, kid, typ } : null
}

/**
 * The JSON object of a segment, or null unless the segment is the one spelling our signer gives
 * it: canonical base64url of UTF-8 of the text that writing the object again gives. So no member name
 * occurs twice, which parsers disagree about (RFC 7515 §4).
 */
export function decodeObject(segment: string): Readonly<Record<string, unknown>> | null {
  const bytes = decodeSegment(segment)
  if (bytes === null || !isUtf8(bytes)) return null
  const text = bytes.toString()
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) && JSON.stringify(value) === text ? value : null
  } catch {
    return null
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Longest access or refresh token in characters. Longer ones are neither signed nor looked into:
 * without a bound a request could make us decode and hash as much as its header may hold. With `Bearer`, it
 * is a header below 8 kB.
 */
export const maxTokenLength = 8000

/** All times in claims are whole seconds since the epoch. */
interface CommonClaims {
  readonly iss: string
  /** The user's id. */
  readonly sub: string
  /** The token's own id. */
  readonly jti: string
  readonly iat: number
  readonly exp: number
}

/** What an access token says of its holder, checked when it was verified. */
export interface AccessClaims extends CommonClaims {
  readonly tokenUse: 'access'
  readonly aud: Audience
  /** The session's id; a service account has none. */
  readonly sid?: string
  /** For the host's information; the library decides nothing by them. */
  readonly memberships: readonly { readonly tenantId: string }[]
  /** The authentication methods of the login (RFC 8176); empty for service accounts. */
  readonly amr: readonly string[]
  /** The time of the login, or of the grant of a service account. */
  readonly authTime: number
}

export interface RefreshClaims extends CommonClaims {
  readonly tokenUse: 'refresh'
  readonly aud: Surface
  /** The session's id, which is the id of the refresh family. */
  readonly sid: string
  /** The generation within the family, from 1. */
  readonly gen: number
  readonly amr: readonly string[]
  /** The time of the login; the access tokens of a refresh repeat it. */
  readonly authTime: number
}

export interface ClaimsByUse {
  readonly access: AccessClaims
  readonly refresh: RefreshClaims
}

export type TokenUse = keyof ClaimsByUse

/** `typ` of the header, by which a token of one use cannot pass for the other (RFC 9068 §2.1). */
export const headerTypes = { access: 'at+jwt', refresh: 'rt+jwt' } as const satisfies Readonly<
  Record<TokenUse, string>
>

export type Payload = Readonly<Record<string, unknown>>

/**
 * The claims of a payload whose `iss`, `aud` and `tokenUse` are already judged, or null when one
 * is missing or of another form. Claims we do not know are left out. Those of an access token are frozen, with
 * all they hold: they are remembered with the token, and each request that brings it gives them to the host.
 */
export const readClaims: {
  readonly [U in TokenUse]: (
    payload: Payload,
    issuer: string,
    aud: Audience,
  ) => ClaimsByUse[U] | null
} = {
  access(payload, iss, aud) {
    const { sub, jti, iat, exp, sid, authTime } = payload
    const amr = readList(payload['amr'], readText)
    const memberships = readList(payload['memberships'], readMembership)
    if (!isText(sub) || !isText(jti) || !isSeconds(iat) || !isSeconds(exp) || exp <= iat)
      return null
    if (amr === null || memberships === null || !isSeconds(authTime)) return null
    const tokenUse = 'access'
    const common = { tokenUse, iss, aud, sub, jti, iat, exp, memberships, amr, authTime } as const
    if (sid === undefined) return Object.freeze(common)
    if (!isText(sid)) return null
    // Written out again: an object made by spreading another takes ten times as long to freeze.
    const of = { tokenUse, iss, aud, sub, jti, iat, exp, sid, memberships, amr, authTime } as const
    return Object.freeze(of)
  },

  refresh(payload, iss, aud) {
    const { sub, jti, iat, exp, sid, gen, authTime } = payload
    const amr = readList(payload['amr'], readText)
    if (!isText(sub) || !isText(jti) || !isSeconds(iat) || !isSeconds(exp) || exp <= iat)
      return null
    if (aud === 'service' || !isText(sid) || !isGeneration(gen)) return null
    if (amr === null || !isSeconds(authTime)) return null
    return { tokenUse: 'refresh', iss, aud, sub, jti, iat, exp, sid, gen, amr, authTime }
  },
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= 255
}

function isSeconds(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function isGeneration(value: unknown): value is number {
  return isSeconds(value) && value >= 1
}

function readText(value: unknown): string | null {
  return isText(value) ? value : null
}

function readMembership(value: unknown): { readonly tenantId: string } | null {
  if (typeof value !== 'object' || value === null || !('tenantId' in value)) return null
  return isText(value.tenantId) ? Object.freeze({ tenantId: value.tenantId }) : null
}

/** Every item read, in a frozen list, or null as soon as one cannot be. */
function readList<T>(value: unknown, read: (item: unknown) => T | null): readonly T[] | null {
  if (!Array.isArray(value)) return null
  const items: T[] = []
  for (const raw of value) {
    const item = read(raw)
    if (item === null) return null
    items.push(item)
  }
  // A list that grew keeps room for more; claims are remembered by the ten thousand.
  return Object.freeze(items.slice())
}

/**
 * The bytes of a base64url segment, or null unless the segment is the one canonical spelling of
 * them. Decoders skip foreign characters and spare bits, so that many texts would be one token
 * (RFC 7515 §2, RFC 4648 §3.5).
 */
export function decodeSegment(segment: string): Buffer | null {
  const bytes = Buffer.from(segment, 'base64url')
  return bytes.toString('base64url') === segment ? bytes : null
}
