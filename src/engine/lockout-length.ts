const day = 24 * 60 * 60 * 1000

/**
 * Milliseconds that the `nth` lockout of an account within a month lasts: each twice as long as the one
 * before, up to a day.
 */
export function lockoutLength(firstMs: number, nth: number): number {
  return Math.min(firstMs * 2 ** (nth - 1), Math.max(firstMs, day))
}
