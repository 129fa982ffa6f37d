// Tokens made by hand, with the run's RSA-2048 key.
import { createPrivateKey, createPublicKey, randomUUID, sign } from 'node:crypto'

export const issuer = 'https://auth.example.test'
export const audience = 'client'
export const header = { alg: 'RS256', typ: 'at+jwt', kid: 'k1' }

/** The claims that an access token of about Postern's size has. */
export function accessClaims(changes = {}) {
  const iat = Math.floor(Date.now() / 1000)
  return {
    iss: issuer,
    aud: audience,
    sub: randomUUID(),
    sid: randomUUID(),
    jti: randomUUID(),
    iat,
    nbf: iat,
    exp: iat + 86_400,
    typ: 'access',
    amr: ['pwd', 'otp'],
    auth_time: iat,
    ...changes,
  }
}

const encoded = (part) => Buffer.from(JSON.stringify(part)).toString('base64url')

/**
 * Signs tokens in compact form: on this thread, and aside in Node's thread pool.
 * @param {{ privatePem: string }} key
 */
export function signerOf({ privatePem }) {
  const privateKey = createPrivateKey(privatePem)
  const inputOf = (head, claims) => `${encoded(head)}.${encoded(claims)}`
  const tokenOf = (input, signature) => `${input}.${signature.toString('base64url')}`
  return {
    privateKey,
    publicKey: createPublicKey(privateKey),
    signed(head, claims) {
      const input = inputOf(head, claims)
      return tokenOf(input, sign('RSA-SHA256', Buffer.from(input), privateKey))
    },
    signedAside(head, claims) {
      const input = inputOf(head, claims)
      return new Promise((resolve, reject) => {
        sign('RSA-SHA256', Buffer.from(input), privateKey, (error, signature) => {
          if (error) reject(error)
          else resolve(tokenOf(input, signature))
        })
      })
    },
  }
}

/** Header and claims of a token, unchecked. */
export function partsOf(token) {
  const [head, claims] = token.split('.', 2)
  return { head: parsed(head), claims: parsed(claims) }
}

const parsed = (part) => JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
