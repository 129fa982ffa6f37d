import { randomBytes } from 'node:crypto'
import { totalmem } from 'node:os'
import type { Random } from '../ports/host.js'

/** The operating system's generator. */
export const systemRandom: Random = { bytes: (length) => randomBytes(length) }

const drawnAtOnce = 4096

/**
 * Draws bytes for many names at once, since a call of the generator takes longer than all else that a name
 * needs. No byte is given twice, and no secret is made of what was drawn ahead.
 */
export function namesAhead(random: Random): Random {
  let drawn = new Uint8Array(0)
  let used = 0
  return {
    bytes: (length) => random.bytes(length),
    nameBytes(length) {
      if (length > drawnAtOnce) return random.bytes(length)
      if (used + length > drawn.length) {
        // A new one each time: names that were given before are parts of the old one.
        drawn = Uint8Array.from(random.bytes(drawnAtOnce))
        used = 0
      }
      used += length
      return drawn.subarray(used - length, used)
    },
  }
}

/** Bytes of memory that this process may have: the limit of its container, or all that there is. */
export function mostMemory(): number {
  const limit = process.constrainedMemory()
  const all = totalmem()
  return limit > 0 && limit < all ? limit : all
}
