/** The costs of one argon2id hash; memory in KiB. */
interface Params {
  readonly memoryCost: number
  readonly timeCost: number
  readonly parallelism: number
}

/** OWASP's recommendation, and what hashes are made with unless the host asks for more. */
export const defaultArgon2Params: Params = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** The least memory (KiB) for a number of passes (ASVS 5.0 appendix C); the last holds for more. */
const argon2Floor: readonly { readonly timeCost: number; readonly memoryCost: number }[] = [
  { timeCost: 1, memoryCost: 47_104 },
  { timeCost: 2, memoryCost: 19_456 },
  { timeCost: 3, memoryCost: 12_288 },
]

/** The highest costs that `verify` still admits, so the highest that may be hashed with. */
export const argon2Ceiling: Params = { memoryCost: 1024 * 1024, timeCost: 64, parallelism: 16 }

/**
 * What is wrong with costs a host asks for, as the second half of a sentence; null when they are
 * at or above the floor and at or below the ceiling. `allowWeak` drops the floor, for tests.
 */
export function argon2ParamsProblem(params: Params, allowWeak: boolean): string | null {
  const { memoryCost, timeCost, parallelism } = params
  const { memoryCost: maxMemory, timeCost: maxTime, parallelism: maxLanes } = argon2Ceiling
  if (!between(timeCost, 1, maxTime)) return `needs a timeCost from 1 to ${maxTime}`
  if (!between(parallelism, 1, maxLanes)) return `needs a parallelism from 1 to ${maxLanes}`
  const row = argon2Floor.findLast((one) => one.timeCost <= timeCost)
  const least = Math.max(allowWeak ? 0 : (row?.memoryCost ?? 0), 8 * parallelism)
  return between(memoryCost, least, maxMemory)
    ? null
    : `needs a memoryCost (KiB) from ${least} to ${maxMemory} at timeCost ${timeCost}`
}

function between(value: number, min: number, max: number): boolean {
  return Number.isSafeInteger(value) && value >= min && value <= max
}
