/** Numbers that depend on the seed alone (mulberry32). Never for secrets. */
export interface Drawn {
  below(end: number): number
  chance(share: number): boolean
  pick<T>(from: readonly [T, ...T[]]): T
}

export function drawn(seed: number): Drawn {
  let state = seed >>> 0
  function below(end: number): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % end
  }
  return {
    below,
    chance: (share) => below(1_000_000) < share * 1_000_000,
    pick: (from) => from[below(from.length)] ?? from[0],
  }
}
