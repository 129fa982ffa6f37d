import { createHmac, hash } from 'node:crypto'
import { type Linked, linkedLine } from '../concurrency/linked-line.js'
import type { Random } from '../ports/host.js'
import type { Audience } from '../ports/surface.js'
import type { LoadedKeyRing } from './key-ring.js'
import type { AccessClaims } from './token-format.js'

/** What a remembered token has to be, here and now. */
export interface Wanted {
  readonly ring: LoadedKeyRing
  readonly issuer: string
  readonly accepts: readonly Audience[]
  /** Epoch milliseconds. */
  readonly now: number
}

/** Access tokens whose signature was verified, so that each is verified once. */
export interface TokenMemo {
  /** What a token is remembered by. Made once a request, since it costs as much as the rest. */
  digestOf(token: string): string
  /** A token that was verified before, has not expired and is what is wanted; else null. */
  find(digest: string, wanted: Wanted): VerifiedToken | null
  /** Remembers a token that was verified. */
  store(digest: string, verified: VerifiedToken): void
}

/** What is known of a token whose signature is genuine. */
export interface VerifiedToken {
  readonly claims: AccessClaims
  /** The `kid` of the key that signed. */
  readonly kid: string
}

interface Remembered extends Linked<Remembered>, VerifiedToken {
  readonly digest: string
}

const mebibyte = 2 ** 20

/** Digest, claims, their ids, the key that signed, the place in map and line; measured on V8 and rounded up. */
function bytesOf({ memberships }: AccessClaims): number {
  return 590 + 125 * memberships.length
}

/**
 * Remembers as many tokens as fit into so much memory, and forgets the ones that were not used for
 * longest. A token of a key that is not in the ring is not found. Only what a signature proves is
 * remembered; whether a session was ended is asked again every time.
 */
export function tokenMemo(mebibytes: number): TokenMemo {
  const capacity = mebibytes * mebibyte
  let used = 0
  const known = new Map<string, Remembered>()
  const uses = linkedLine<Remembered>()

  function forget(one: Remembered): void {
    uses.remove(one)
    known.delete(one.digest)
    used -= bytesOf(one.claims)
  }

  return {
    // One byte a character: the digest is half as long as in base64url, and no other text is a key.
    digestOf: (token) => hash('sha256', token, 'binary'),

    find(digest, { ring, issuer, accepts, now }) {
      const remembered = known.get(digest)
      if (remembered === undefined) return null
      const { claims, kid } = remembered
      if (now >= claims.exp * 1000 || !ring.verifyingKeys.has(kid)) {
        forget(remembered)
        return null
      }
      uses.remove(remembered)
      uses.add(remembered)
      return claims.iss === issuer && accepts.includes(claims.aud) ? remembered : null
    },

    store(digest, { claims, kid }) {
      const bytes = bytesOf(claims)
      if (bytes > capacity || known.has(digest)) return
      while (used + bytes > capacity) {
        const oldest = uses.first()
        if (oldest === null) break
        forget(oldest)
      }
      const remembered = { digest, claims, kid, before: null, after: null }
      known.set(digest, remembered)
      uses.add(remembered)
      used += bytes
    },
  }
}

/** Secrets that a slow hash has accepted, so that each is hashed once in a while. */
export interface SecretMemo {
  /** Whether `hash`, the stored one of `id`, accepted this very secret within the last 15 minutes. */
  knows(id: string, hash: string, secret: string, now: number): boolean
  store(id: string, hash: string, secret: string, now: number): void
}

const lifeMs = 15 * 60 * 1000

/**
 * Remembers at most `capacity` secrets, and of each only an HMAC under a key that this process made
 * and keeps to itself: what is in memory is no shortcut to guess against. A hash that was replaced is
 * another entry. It knows nothing of revocation: ask after the rows have spoken.
 */
export function secretMemo(random: Random, capacity = 10_000): SecretMemo {
  const key = random.bytes(32)
  const accepted = new Map<string, number>()

  const entryOf = (...parts: readonly string[]): string =>
    createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url')

  return {
    knows(id, hash, secret, now) {
      const entry = entryOf(id, hash, secret)
      const at = accepted.get(entry)
      if (at === undefined) return false
      // A clock that stepped back must not make it longer.
      if (now >= at && now < at + lifeMs) return true
      accepted.delete(entry)
      return false
    },
    store(id, hash, secret, now) {
      const entry = entryOf(id, hash, secret)
      accepted.delete(entry)
      accepted.set(entry, now)
      const oldest = accepted.keys().next()
      if (accepted.size > capacity && !oldest.done) accepted.delete(oldest.value)
    },
  }
}
