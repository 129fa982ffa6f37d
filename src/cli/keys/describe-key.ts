import { createHash, createPublicKey } from 'node:crypto'
import { Refusal } from '../frame/refusal.js'

export interface DescribedKey {
  /** Its RFC 7638 thumbprint, as in the JWKS and in the header of tokens. */
  readonly kid: string
  readonly bits: number
  /** SPKI PEM. */
  readonly publicPem: string
}

/** What may be shown of an RSA key in PEM, private or public. Throws `Refusal` for anything else. */
export function describeKey(pem: string): DescribedKey {
  const key = publicHalf(pem)
  const { n = '', e = '' } = key.export({ format: 'jwk' })
  const members = JSON.stringify({ e, kty: 'RSA', n })
  return {
    kid: createHash('sha256').update(members).digest('base64url'),
    bits: key.asymmetricKeyDetails?.modulusLength ?? 0,
    publicPem: String(key.export({ format: 'pem', type: 'spki' })),
  }
}

function publicHalf(pem: string) {
  try {
    const key = createPublicKey(pem)
    if (key.asymmetricKeyType === 'rsa') return key
  } catch {
    // The message of the parser could repeat a part of the key.
  }
  throw new Refusal('The file holds a key that is no RSA key in PEM.')
}
