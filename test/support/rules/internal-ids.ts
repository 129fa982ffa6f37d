/**
 * Ids of a document that readers of this repository do not have. They count requirements in test
 * titles and nowhere else: a comment gives the reason itself, or a section of a public standard.
 */
const internalId =
  /\b(?:R-(?:\d[\dA-Z.]*|LIB)-\d+|[DGOST]-\d{2,3}|(?:EN|HH|MA|MF|OL|PP|RD|RF|SF|SP|TD)-\d+|[Ss]eed \d[\d.]*|of the seed|the seed's)\b/g

/** Every mention of an internal id, as `path:line: what is wrong`. */
export function internalIds(path: string, source: string): readonly string[] {
  return source
    .split('\n')
    .flatMap((line, index) =>
      [...line.matchAll(internalId)].map(
        ([id]) => `${path}:${index + 1}: names the internal id ${id}; give the reason itself`,
      ),
    )
}
