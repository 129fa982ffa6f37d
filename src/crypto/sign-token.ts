import type { LoadedKeyRing } from './key-ring.js'
import {
  type AccessClaims,
  type ClaimsByUse,
  headerTypes,
  maxTokenLength,
  type RefreshClaims,
  readClaims,
  type TokenUse,
} from './token-claims.js'

/**
 * An access token of these claims, signed with the ring's current key. Rejects with a `TypeError`
 * for claims that would not verify, and with a `RangeError` when there are so many memberships
 * that the token would be too long to be accepted.
 */
export function signAccess(claims: AccessClaims, ring: LoadedKeyRing): Promise<string> {
  return sign('access', claims, ring)
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
): Promise<string> {
  const minted = readClaims[use]({ ...claims }, claims.iss, claims.aud)
  if (minted === null)
    throw new TypeError(`The ${use} token's claims are not of the expected form.`)
  const header = segment({ alg: 'RS256', kid: ring.kid, typ: headerTypes[use] })
  const signed = `${header}.${segment(minted)}`
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
