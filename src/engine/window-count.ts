/** A fixed counting window; null before the first hit. */
export interface WindowCount {
  readonly count: number
  readonly resetsAt: number
}

/**
 * Counts a hit, or refuses it unchanged when the limit is reached. A window starts with its first
 * hit and refused hits never extend it.
 */
export function countHit(
  window: WindowCount | null,
  windowMs: number,
  limit: number,
  now: number,
): { readonly allowed: boolean; readonly window: WindowCount } {
  const running =
    window !== null && window.resetsAt > now ? window : { count: 0, resetsAt: now + windowMs }
  if (running.count >= limit) return { allowed: false, window: running }
  return { allowed: true, window: { count: running.count + 1, resetsAt: running.resetsAt } }
}
