/** A header is read so far: browsers send fewer than a hundred characters. */
const longestHeader = 500
const mostRanges = 10

/** The longest tag that has to be expected (RFC 5646 §4.4.1). */
const longestRange = 35

/** A language range (RFC 4647 §2.1) and its weight. */
const weighted = /^([a-z]{1,8}(?:-[a-z0-9]{1,8})*)(?:[ \t]*;[ \t]*q=([01](?:\.\d{0,3})?))?$/i

/**
 * The languages that an `Accept-Language` header asks for, the most wanted first, in lower case, at most ten (RFC 9110
 * §12.5.4). Without those of weight 0, without `*`, and without what is no language range, so that no free text of a
 * caller comes out.
 */
export function acceptedLanguages(header: string): readonly string[] {
  const parts = header.slice(0, longestHeader).split(',')
  // The last one may have been cut within a word.
  if (header.length > longestHeader) parts.pop()
  const ranges = parts.flatMap((part) => {
    const [, range, weight = '1'] = weighted.exec(part.trim()) ?? []
    if (range === undefined || range.length > longestRange) return []
    return [{ range: range.toLowerCase(), weight: Number(weight) }]
  })
  const wanted = ranges.filter(({ weight }) => weight > 0 && weight <= 1)
  const sorted = wanted.toSorted((a, b) => b.weight - a.weight)
  return [...new Set(sorted.map(({ range }) => range))].slice(0, mostRanges)
}
