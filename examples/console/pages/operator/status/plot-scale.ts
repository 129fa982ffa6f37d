/** The next of 2, 4, 10, 20, 40, 100 … from a value up. The half of each is a whole number, as counts are. */
export function niceTop(value: number): number {
  if (value <= 2) return 2
  const unit = 10 ** Math.floor(Math.log10(value))
  return unit * ([1, 2, 4, 10].find((step) => step * unit >= value) ?? 10)
}
