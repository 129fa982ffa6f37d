/**
 * The first of the wanted language ranges that leads to one of the languages there are, by the lookup of RFC 4647 §3.4:
 * `de-AT` leads to `de` where there is no `de-AT`. Null where none does.
 */
export function languageOf(available: readonly string[], wanted: readonly string[]): string | null {
  for (const range of wanted) {
    for (let prefix = range.toLowerCase(); prefix !== ''; prefix = shortened(prefix)) {
      const found = available.find((one) => one.toLowerCase() === prefix)
      if (found !== undefined) return found
    }
  }
  return null
}

/** A range without its last subtag, and without one of a single letter before it, which introduces it. */
function shortened(range: string): string {
  const shorter = range.slice(0, Math.max(range.lastIndexOf('-'), 0))
  return shorter.at(-2) === '-' ? shorter.slice(0, -2) : shorter
}
