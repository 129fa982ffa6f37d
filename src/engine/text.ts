/** The bytes `text` takes as UTF-8; a lone surrogate counts as the replacement character. */
export function utf8Length(text: string): number {
  let bytes = 0
  for (const character of text) {
    const codePoint = character.codePointAt(0) ?? 0
    if (codePoint < 0x80) bytes += 1
    else if (codePoint < 0x800) bytes += 2
    else bytes += codePoint < 0x10000 ? 3 : 4
  }
  return bytes
}

/** Control characters, line and paragraph separators, and what turns the direction of text (UAX #9). */
const breaking = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u
const everyBreaking = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu

/**
 * Whether a name looks in a list or a mail as it was written: a line break begins a line of its own,
 * and a character such as U+202E shows what follows from right to left.
 */
export function isSingleLine(text: string): boolean {
  return !breaking.test(text)
}

/**
 * A name as one line, which is not refused for what nobody sees: white space that breaks a line and tabs become a blank, other
 * controls and marks of direction go. What joins letters stays: without it names of some languages read wrong.
 */
export function asSingleLine(name: string): string {
  return name
    .replaceAll(/[\t-\r\u0085\p{Zl}\p{Zp}]+/gu, ' ')
    .replaceAll(everyBreaking, '')
    .trim()
}

/** The same where it may be left out, or of any type by a cast. */
export function nameAsSingleLine<T extends { readonly name?: unknown }>(given: T): T {
  const { name } = given
  return typeof name === 'string' ? { ...given, name: asSingleLine(name) } : given
}

/** Text every store can hold: well-formed UTF-16 without NUL. False for whatever a cast let in. */
export function isStorable(text: unknown): text is string {
  return typeof text === 'string' && text.isWellFormed() && !text.includes('\0')
}

/** The most UTF-16 code units of an id, which every store can hold as a key. */
export const longestId = 255

/** Text every store can hold as an id. */
export function isStorableId(text: unknown): text is string {
  return isStorable(text) && text.length <= longestId
}

/**
 * The text without any of these characters at its end. It is no regular expression: one for the end of a text tries
 * each place, so that a text of blanks alone takes time by the square of its length.
 */
export function withoutEnding(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1
  return text.slice(0, end)
}

/**
 * The text that a form spells (RFC 6749 appendix B): `+` is a space, what is percent-encoded is UTF-8.
 * Null for a stray percent sign, for bytes that are no UTF-8, and for text that has no UTF-8 form.
 */
export function formDecoded(text: string): string | null {
  try {
    const plain = decodeURIComponent(text.replaceAll('+', ' '))
    return plain.isWellFormed() ? plain : null
  } catch {
    return null
  }
}

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
