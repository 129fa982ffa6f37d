import type { Exchange } from '../history.js'

/**
 * The earlier requests that a reset may complete: the same link and the same password. If one of them was cut off after
 * its write, it changed the password, and this reset changes nothing.
 */
export function completable(one: Exchange, others: readonly Exchange[]): readonly Exchange[] {
  if (one.operation !== 'reset') return []
  return others.filter((other) => {
    const isSame = other.spends === one.spends && other.sets === one.sets
    return isSame && other.begun < one.begun
  })
}
