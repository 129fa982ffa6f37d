/** The next of 1, 2, 5, 10, 20 … above a value. */
export function niceTop(value: number): number {
  if (value <= 0) return 1
  const unit = 10 ** Math.floor(Math.log10(value))
  return unit * ([1, 2, 5, 10].find((step) => step * unit >= value) ?? 10)
}
