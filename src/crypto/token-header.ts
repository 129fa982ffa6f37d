import type { KeyObject } from 'node:crypto'
import { decodeObject } from './token-segment.js'

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
 * member rules out `crit`, `b64`, `jku`, `jwk`, `x5u`, `x5c`, `zip` and whatever comes next
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
