import { hash } from 'node:crypto'
import type { LoadedKeyRing } from './key-ring.js'
import type { AccessClaims } from './token-claims.js'

/** Access tokens whose signature was verified, so that each is verified once. */
export interface TokenMemo {
  /** The claims of a token verified before with this very ring and not expired; else null. */
  find(token: string, ring: LoadedKeyRing, now: number): AccessClaims | null
  store(token: string, ring: LoadedKeyRing, claims: AccessClaims): void
}

/**
 * Remembers at most `capacity` tokens until they expire, by their digest. Another ring empties it:
 * a key that was taken out of the ring takes its tokens with it. Only what a signature proves is
 * remembered; whether a session was ended is asked again every time.
 */
export function tokenMemo(capacity = 10_000): TokenMemo {
  const known = new Map<string, AccessClaims>()
  let ringOfKnown: LoadedKeyRing | null = null

  function useRing(ring: LoadedKeyRing): void {
    if (ring === ringOfKnown) return
    known.clear()
    ringOfKnown = ring
  }

  return {
    find(token, ring, now) {
      useRing(ring)
      const digest = digestOf(token)
      const claims = known.get(digest)
      if (claims === undefined) return null
      if (now < claims.exp * 1000) return claims
      known.delete(digest)
      return null
    },
    store(token, ring, claims) {
      useRing(ring)
      if (known.size >= capacity) {
        const oldest = known.keys().next()
        if (!oldest.done) known.delete(oldest.value)
      }
      known.set(digestOf(token), claims)
    },
  }
}

function digestOf(token: string): string {
  return hash('sha256', token, 'base64url')
}
