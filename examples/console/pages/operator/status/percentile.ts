import type { Durations } from '../../../host/status-reply.ts'

/**
 * The seconds below which this share of the durations lies, as near as the buckets tell: spread evenly within a bucket,
 * and the last bound for what is above all. Null where there are none.
 */
export function percentile({ bounds, counts }: Durations, share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let left = total * share
  for (const [index, count] of counts.entries()) {
    const bound = bounds[index]
    if (bound === undefined) break
    const before = index === 0 ? 0 : (bounds[index - 1] ?? 0)
    if (left <= count) return before + ((bound - before) * left) / count
    left -= count
  }
  return bounds.at(-1) ?? null
}
