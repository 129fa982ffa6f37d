import { type AsymmetricKeyDetails, createPublicKey, type JsonWebKey } from 'node:crypto'
import { decodeCredentialPublicKey } from '@simplewebauthn/server/helpers'

/** Labels and values of COSE (RFC 9053 §2 and §7, RFC 8230 §4). */
const kty = { okp: 1, ec2: 2, rsa: 3 } as const
const curve = { p256: 1, ed25519: 6 } as const
const algorithmOf = new Map<unknown, number>([
  [kty.ec2, -7],
  [kty.okp, -8],
  [kty.rsa, -257],
])

/**
 * Whether signatures can be verified with this COSE key: one for ES256, EdDSA or RS256 that names its own algorithm,
 * whose members are whole and whose point lies on its curve. Where no attestation is signed, nothing else shows it
 * before the first use, and the decoder of CBOR takes bytes that end too early. Throws for what is no COSE key.
 */
export function isUsableKey(cose: Uint8Array<ArrayBuffer>): boolean {
  const key: { get(label: number): unknown } = decodeCredentialPublicKey(cose)
  const jwk = jwkOf(key)
  if (jwk === null || key.get(3) !== algorithmOf.get(key.get(1))) return false
  const { asymmetricKeyDetails: of = {} } = createPublicKey({ key: jwk, format: 'jwk' })
  return jwk.kty !== 'RSA' || isStrong(of)
}

/** FIPS 186-5 §5.1 and §5.4. */
function isStrong({ modulusLength = 0, publicExponent = 0n }: AsymmetricKeyDetails): boolean {
  return modulusLength >= 2048 && publicExponent > 2n ** 16n
}

function jwkOf(key: { get(label: number): unknown }): JsonWebKey | null {
  const [type, crv, x, y] = [key.get(1), key.get(-1), text(key.get(-2)), text(key.get(-3))]
  if (type === kty.ec2 && crv === curve.p256) return { kty: 'EC', crv: 'P-256', x, y }
  if (type === kty.okp && crv === curve.ed25519) return { kty: 'OKP', crv: 'Ed25519', x }
  return type === kty.rsa ? { kty: 'RSA', n: text(crv), e: x } : null
}

/** Empty for what is no bytes, which no key has for a member. */
function text(bytes: unknown): string {
  return bytes instanceof Uint8Array ? Buffer.from(bytes).toString('base64url') : ''
}
