const shortest = 4

/** What a password is compared with, folded by `foldWord`. */
interface ContextWords {
  /** Refused wherever they occur. */
  readonly own: readonly string[]
  /** Refused unless the rest of the password is long enough by itself. */
  readonly related: readonly string[]
}

/**
 * The words an attacker would try first for this very account. The local part of an e-mail address is
 * the account's own word, and its parts are related words; the parts of everything else (names, products,
 * hosts) are related words too. Parts end at any character that is no letter or digit. Words of fewer than
 * four characters are dropped: they occur in anything.
 */
export function contextWords(texts: readonly string[]): ContextWords {
  const localParts = texts.map((text) => text.slice(0, Math.max(text.lastIndexOf('@'), 0)))
  const own = fold(localParts)
  const others = texts.map((text, index) => localParts[index] || text)
  const related = fold(others.flatMap((text) => text.split(/[^\p{L}\p{M}\p{N}]+/u)))
  return { own, related: related.filter((word) => !own.includes(word)) }
}

/** One spelling for what looks alike: case, accents, width, and the usual signs for letters. */
export function foldWord(text: string): string {
  return text
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .normalize('NFC')
    .replace(/[01345789@$!|l]/g, (character) => lookAlikes.get(character) ?? character)
}

/** `l`, `1`, `!` and `|` are written for `i` and for each other: all become `i`. */
const lookAlikes: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '0': 'o',
    '1': 'i',
    '3': 'e',
    '4': 'a',
    '5': 's',
    '7': 't',
    '8': 'b',
    '9': 'g',
    '@': 'a',
    $: 's',
    '!': 'i',
    '|': 'i',
    l: 'i',
  }),
)

function fold(words: readonly string[]): readonly string[] {
  const folded = words.map(foldWord).filter((word) => Array.from(word).length >= shortest)
  return [...new Set(folded)]
}
