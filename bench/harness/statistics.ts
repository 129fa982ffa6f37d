/** The least, the middle and the greatest of several rounds. */
export interface Spread {
  readonly least: number
  readonly middle: number
  readonly greatest: number
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const half = sorted.length >> 1
  const upper = sorted[half] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? Number.NaN) + upper) / 2
}

/** The value that `share` of all values do not exceed, such as 0.99; NaN of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const rank = Math.max(0, Math.ceil(share * sorted.length) - 1)
  return sorted[rank] ?? Number.NaN
}

/** Null of no values. */
export function spreadOf(values: readonly number[]): Spread | null {
  if (values.length === 0) return null
  return {
    least: Math.min(...values),
    middle: median(values),
    greatest: Math.max(...values),
  }
}

/** A number with as many digits as it deserves: three, and no more than the thousandths. */
export function rounded(value: number): string {
  if (!Number.isFinite(value)) return '-'
  const size = Math.abs(value)
  if (size >= 100) return String(Math.round(value))
  if (size >= 10) return value.toFixed(1)
  return size >= 1 || size === 0 ? value.toFixed(2) : value.toFixed(3)
}

/** `least / middle / greatest`, or `-` of no values. */
export function spreadText(values: readonly number[]): string {
  const spread = spreadOf(values)
  if (spread === null) return '-'
  return [spread.least, spread.middle, spread.greatest].map(rounded).join(' / ')
}
