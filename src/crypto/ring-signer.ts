import { type KeyObject, sign as signBytes } from 'node:crypto'

/** What is to be signed by a key that the host keeps elsewhere. */
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
export function signerOf(key: KeyObject): RingSigner {
  const sign = (data: Uint8Array) =>
    new Promise<Uint8Array>((resolve, reject) => {
      signBytes('RSA-SHA256', data, key, (error, bytes) => {
        if (error) reject(error)
        else resolve(bytes)
      })
    })
  return { sign, isElsewhere: false }
}
