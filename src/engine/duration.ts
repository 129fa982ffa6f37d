const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** Largest first: the order in which a duration must name its units. */
const units = [
  ['d', day],
  ['h', hour],
  ['m', minute],
  ['s', second],
  ['ms', 1],
] as const

/**
 * Milliseconds of a duration such as `15m`, `1h30m`, `720h` or `250ms`: whole numbers, each with a
 * unit out of `d h m s ms`, larger units first and none twice. A bare whole number is seconds.
 * Null for everything else, and for more than a safe integer of milliseconds.
 */
export function parseDuration(text: string): number | null {
  if (/^[0-9]+$/.test(text)) return safe(Number(text) * second)
  if (!/^([0-9]+(ms|s|m|h|d))+$/.test(text)) return null
  let total = 0
  let smallest = Number.POSITIVE_INFINITY
  for (const [, amount, unit] of text.matchAll(/([0-9]+)(ms|s|m|h|d)/gy)) {
    const size = units.find(([name]) => name === unit)?.[1] ?? 0
    if (size >= smallest) return null
    smallest = size
    total += Number(amount) * size
  }
  return safe(total)
}

/**
 * The shortest text that `parseDuration` reads back as `ms`, with all units: `90000` is `1m30s`,
 * zero is `0s`. Throws a `RangeError` for anything but a safe, non-negative integer.
 */
export function formatDuration(ms: number): string {
  if (!Number.isSafeInteger(ms) || ms < 0) throw new RangeError('A duration is whole milliseconds')
  if (ms === 0) return '0s'
  let rest = ms
  let text = ''
  for (const [name, size] of units) {
    const amount = Math.floor(rest / size)
    if (amount > 0) text += `${amount}${name}`
    rest -= amount * size
  }
  return text
}

function safe(ms: number): number | null {
  return Number.isSafeInteger(ms) ? ms : null
}

/** The longest age that may be asked for, in milliseconds: proofs are kept for little longer. */
export const longestProofAge = 60 * 60 * 1000

/** Whether an age may be asked for, in milliseconds. */
export function isProofAge(maxAgeMs: number | null): maxAgeMs is number {
  return maxAgeMs !== null && maxAgeMs > 0 && maxAgeMs <= longestProofAge
}

/** How far in the future a proof may lie, as a token may: the clocks of replicas differ. */
const maxAheadMs = 60_000

/**
 * Milliseconds since a proof or a login, for comparison with a longest age. 0 for one up to a minute in the future, which
 * came from a process whose clock is ahead. Null beyond that: it would prove something for longer than it should.
 */
export function proofAge(provedAt: number, now: number): number | null {
  const age = now - provedAt
  return age < -maxAheadMs ? null : Math.max(age, 0)
}

/** How long a mailed reset link lives, in milliseconds: an hour. */
export const resetLinkMs = 60 * 60 * 1000
