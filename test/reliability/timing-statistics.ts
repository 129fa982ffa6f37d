/** How far apart two series of times are, in milliseconds. */
export interface Difference {
  /** Of the medians, and the bounds of its 95 % bootstrap interval. */
  readonly median: number
  readonly from: number
  readonly to: number
  /** How well one time tells whose it is: 0.5 is not at all (Mann–Whitney U over n·m). */
  readonly auc: number
}

const resamples = 1000

/**
 * Compares times that were taken side by side, one of each in every block: blocks are drawn as a whole, so that
 * what slowed both down does not count.
 */
export function differenceOf(
  ours: readonly number[],
  theirs: readonly number[],
  random: () => number,
): Difference {
  const medians = Array.from({ length: resamples }, () => {
    const drawn = ours.map(() => Math.floor(random() * ours.length))
    return medianOf(drawn.map((at) => ours[at] ?? 0)) - medianOf(drawn.map((at) => theirs[at] ?? 0))
  }).sort((a, b) => a - b)
  return {
    median: medianOf(ours) - medianOf(theirs),
    from: medians[Math.floor(resamples * 0.025)] ?? Number.NaN,
    to: medians[Math.floor(resamples * 0.975)] ?? Number.NaN,
    auc: aucOf(ours, theirs),
  }
}

export function medianOf(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

function aucOf(ours: readonly number[], theirs: readonly number[]): number {
  let above = 0
  for (const one of ours) {
    for (const other of theirs) above += one > other ? 1 : Number(one === other) / 2
  }
  return above / (ours.length * theirs.length)
}
