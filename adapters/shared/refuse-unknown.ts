/**
 * Throws a `TypeError` that names an unknown option. A misspelt one would otherwise silently put the
 * collections somewhere else.
 */
export function refuseUnknown(backend: string, rest: object): void {
  const [unknown] = Object.keys(rest)
  if (unknown === undefined) return
  throw new TypeError(`${backend}: "${unknown}" is not an option; check its spelling`)
}
