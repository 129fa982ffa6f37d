import { createHmac } from 'node:crypto'
import type { Random } from '../ports/host.js'

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
