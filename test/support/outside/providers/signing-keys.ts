import { randomUUID } from 'node:crypto'
import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from 'jose'

/** A provider's own RS256 keys, and the ways somebody else would sign. */
export interface SigningKeys {
  readonly kid: string
  /** For the provider's key set. */
  readonly publicJwk: Record<string, unknown>
  readonly privateJwk: Record<string, unknown>
  sign(claims: JWTPayload): Promise<string>
  /** By a key of nobody, under the provider's key id. */
  signForeign(claims: JWTPayload): Promise<string>
  /** By a secret that both sides know, or that everybody knows: the public key as a text. */
  signHs256(claims: JWTPayload, secret: string | 'public key'): Promise<string>
}

export async function signingKeys(): Promise<SigningKeys> {
  const [own, foreign] = await Promise.all([
    generateKeyPair('RS256', { extractable: true }),
    generateKeyPair('RS256'),
  ])
  const kid = randomUUID()
  const about = { kid, use: 'sig', alg: 'RS256' }
  const publicPem = await exportSPKI(own.publicKey)
  const signed = (claims: JWTPayload, alg: string) =>
    new SignJWT(claims).setProtectedHeader({ alg, kid, typ: 'JWT' })
  return {
    kid,
    publicJwk: { ...(await exportJWK(own.publicKey)), ...about },
    privateJwk: { ...(await exportJWK(own.privateKey)), ...about },
    sign: (claims) => signed(claims, 'RS256').sign(own.privateKey),
    signForeign: (claims) => signed(claims, 'RS256').sign(foreign.privateKey),
    signHs256: (claims, secret) =>
      signed(claims, 'HS256').sign(
        new TextEncoder().encode(secret === 'public key' ? publicPem : secret),
      ),
  }
}
