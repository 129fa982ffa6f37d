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

/** A letter or digit that has no spelling in `a-z0-9` here. Modifier letters are accents. */
const foreign = /(?![a-z0-9])[\p{Ll}\p{Lu}\p{Lt}\p{Lo}\p{N}]/u

/**
 * The slug for a new element of a record list, from the name that an operator typed: lower case,
 * accents dropped, everything else a hyphen, cut to 63 characters. `Ünïcode & Co.` gives `unicode-co`.
 *
 * A name with letters or digits of another script ends in eight hexadecimal digits, a hash (FNV-1a) of the whole name in
 * lower case, so that such names differ: `Mail 東京` gives `mail-e7270f77`, and `東京` gives `item-06271ed0`. The same name
 * gives the same slug everywhere. Two names can give one slug; the store refuses the second (409
 * `config.roster_conflict`).
 *
 * Throws a `RangeError` for a name without any letter or digit.
 */
export function mintSlug(name: string): string {
  // Twice, since some signs are capitals only once they are taken apart, as `№` and `𝐇`.
  const folded = name.toLowerCase().normalize('NFKD').toLowerCase()
  const latin = folded
    .replace(/\p{M}/gu, '')
    .replace(/[ßæœøłđðþı]/g, (letter) => spelledOut.get(letter) ?? '')
  if (foreign.test(latin)) {
    const mark = hashOf(folded.trim())
    return `${hyphenated(latin, maxLength - mark.length - 1) || 'item'}-${mark}`
  }
  const slug = hyphenated(latin, maxLength)
  if (slug === '') {
    throw new RangeError(
      'The name has no letter or digit to make a slug of; choose a slug such as "mail-eu".',
    )
  }
  return slug
}

function hyphenated(text: string, length: number): string {
  return text
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, length)
    .replace(/-$/, '')
}

/** FNV-1a of 32 bits over UTF-16 code units. It tells names apart and protects nothing. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return (hash >>> 0).toString(16).padStart(8, '0')
}
