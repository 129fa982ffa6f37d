const slugForm = /^[a-z0-9]+(-[a-z0-9]+)*$/
const maxLength = 63

/** Letters that Unicode does not decompose into a Latin letter and a mark. */
const spelledOut: ReadonlyMap<string, string> = new Map([
  ['ß', 'ss'],
  ['æ', 'ae'],
  ['œ', 'oe'],
  ['ø', 'o'],
  ['ł', 'l'],
  ['đ', 'd'],
  ['ð', 'd'],
  ['þ', 'th'],
  ['ı', 'i'],
])

/** True for lower-case letters and digits in groups joined by single hyphens, 1 to 63 characters. */
export function isSlug(text: string): boolean {
  return text.length <= maxLength && slugForm.test(text)
}

/**
 * The slug for a new element of a record list, from the name that an operator typed: lower case,
 * accents dropped, everything else a hyphen, cut to 63 characters. `Ünïcode & Co.` gives `unicode-co`.
 * Two names can give one slug; the store refuses the second (409 `config.roster_conflict`).
 *
 * Throws a `RangeError` for a name without any Latin letter or digit.
 */
export function mintSlug(name: string): string {
  const latin = name
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[ßæœøłđðþı]/g, (letter) => spelledOut.get(letter) ?? '')
  const slug = latin
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, maxLength)
    .replace(/-$/, '')
  if (slug === '') {
    throw new RangeError(
      'The name has no Latin letter or digit to make a slug of; choose a slug such as "mail-eu".',
    )
  }
  return slug
}
