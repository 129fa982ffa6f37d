import type { Claims } from './history.js'

/** What a token says of itself; null for an empty text. */
export function claimsOf(token: string): Claims | null {
  if (token === '') return null
  const { sid, jti, gen, exp }: { sid?: string; jti?: string; gen?: number; exp?: number } =
    JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
  return { sid: sid ?? '', jti: jti ?? '', gen: gen ?? 0, exp: (exp ?? 0) * 1000 }
}
