/**
 * Throws a `TypeError` that names an option which is none: a misspelt one would put the collections
 * somewhere else without a word.
 */
export function refuseUnknown(backend: string, rest: object): void {
  const [unknown] = Object.keys(rest)
  if (unknown === undefined) return
  throw new TypeError(`${backend}: "${unknown}" is not an option; check its spelling`)
}
