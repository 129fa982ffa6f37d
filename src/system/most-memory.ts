import { totalmem } from 'node:os'

/** Bytes of memory that this process may have: the limit of its container, or all that there is. */
export function mostMemory(): number {
  const limit = process.constrainedMemory()
  const all = totalmem()
  return limit > 0 && limit < all ? limit : all
}
