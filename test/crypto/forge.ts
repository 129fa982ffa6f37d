import { createHmac, generateKeyPairSync, sign } from 'node:crypto'

/** A key pair of test strength, in PEM. */
export interface PemPair {
  readonly privateKey: string
  readonly publicKey: string
}

export function rsaPair(modulusLength = 2048, publicExponent = 65_537): PemPair {
  return generateKeyPairSync('rsa', {
    modulusLength,
    publicExponent,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
}

export function encode(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return Buffer.from(text).toString('base64url')
}

/** A token with any header and payload (objects, or JSON texts taken as they are), signed RS256. */
export function forge(header: unknown, payload: unknown, privateKey: string): string {
  return forgeSegments(encode(header), encode(payload), privateKey)
}

export function forgeSegments(header: string, payload: string, privateKey: string): string {
  const signature = sign('RSA-SHA256', Buffer.from(`${header}.${payload}`), privateKey)
  return `${header}.${payload}.${signature.toString('base64url')}`
}

/** HS256 with whatever bytes an attacker might take for the key. */
export function forgeHmac(header: unknown, payload: unknown, secret: string | Buffer): string {
  const input = `${encode(header)}.${encode(payload)}`
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
}

/** A copy without one member. */
export function without(value: object, name: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([key]) => key !== name))
}
