import { dictionary } from '@zxcvbn-ts/language-common'

/** Some 49,000 passwords that are tried first. Importing this takes about 20 ms and 7 MB. */
export const commonPasswordList: ReadonlySet<string> = new Set(dictionary['passwords-common'])

// A release of the package that names its list otherwise must not let every password in.
if (commonPasswordList.size < 40_000) {
  throw new TypeError('@zxcvbn-ts/language-common has no list of common passwords')
}

/** What a password costs an attacker who puts it together from pieces: see `isGuessable`. */
const wordCost = 2
const runCost = 1
const characterCost = 1
const enough = 6

const longestWord = 24

/** Rows and diagonals of the keyboards people walk along. */
const walks = [
  ...['01234567890', 'abcdefghijklmnopqrstuvwxyz'],
  ...['qwertyuiop', 'asdfghjkl', 'zxcvbnm', 'qwertzuiop', 'yxcvbnm', 'azertyuiop', 'qsdfghjklm'],
  ...['1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p', '1q2w3e4r5t6y7u8i9o0p', 'qawsedrftgyhujikolp'],
  ...['!@#$%^&*()', '!"§$%&/()='],
].flatMap((walk) => [walk, Array.from(walk).reverse().join('')])

/** Letters written as look-alike signs; `1` and `!` stand for both `i` and `l`. */
const signs: Readonly<Record<string, string>> = {
  '0': 'o',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '8': 'b',
  '9': 'g',
  '@': 'a',
  $: 's',
}

/** Characters looked at; more than a password may have bytes. */
const longestJudged = 1024

/**
 * Whether a password is made of so few guessable pieces that it falls early in an attack. Pieces
 * are a word that `isWord` knows (2 points), a run such as `1234`, `aaaa`, `asdf` or a year
 * (1 point), and any other single character (1 point); the cheapest way to put the password
 * together counts, and below 6 points it is guessable. Case is ignored, signs are read as the
 * letters they stand for, and a password that repeats itself is judged by what it repeats.
 *
 * One or two common words with a few digits fall (`Password1234!`, `footballbaseball`); three
 * words, or fifteen characters of no pattern, stand.
 */
export function isGuessable(password: string, isWord: (text: string) => boolean): boolean {
  // Some characters grow eighteenfold; what is this long is judged by its beginning.
  const whole = password.normalize('NFKC').slice(0, longestJudged).toLowerCase()
  if (isWord(whole)) return true
  const text = repeatedPart(whole)
  const readings = [text, unmask(text, 'i'), unmask(text, 'l')]
  const known = (from: number, to: number) =>
    readings.some((reading) => isWord(reading.slice(from, to)))
  // cheapest[i]: the points of the first i characters.
  const cheapest = new Array<number>(text.length + 1).fill(enough)
  cheapest[0] = 0
  for (let from = 0; from < text.length; from += 1) {
    const points = cheapest[from] ?? enough
    if (points + characterCost >= enough) continue
    const reach = (to: number, cost: number) => {
      cheapest[to] = Math.min(cheapest[to] ?? enough, points + cost)
    }
    reach(from + 1, characterCost)
    for (const to of runEnds(text, from)) reach(to, runCost)
    const last = Math.min(text.length, from + longestWord)
    for (let to = from + 3; to <= last; to += 1) if (known(from, to)) reach(to, wordCost)
  }
  return (cheapest[text.length] ?? enough) < enough
}

/** `abcabcab` → `abc`; a text that does not repeat itself is its own part. */
function repeatedPart(text: string): string {
  for (let length = 1; length <= text.length / 2; length += 1) {
    const part = text.slice(0, length)
    if (part.repeat(Math.ceil(text.length / length)).startsWith(text)) return part
  }
  return text
}

function unmask(text: string, one: string): string {
  return text.replace(/[01345789@$!]/g, (sign) => signs[sign] ?? one)
}

/** Where runs that start at `from` can end: each kind at its longest, so that none splits in two. */
function runEnds(text: string, from: number): readonly number[] {
  const ends: number[] = []
  const first = text.charAt(from)
  let same = from
  while (text.charAt(same) === first && same < text.length) same += 1
  if (same - from >= 3) ends.push(same)
  if (/^(19|20)[0-9]{2}$/.test(text.slice(from, from + 4))) ends.push(from + 4)
  for (const walk of walks) {
    const end = walkEnd(text, from, walk)
    if (end - from >= 3) ends.push(end)
  }
  return ends
}

function walkEnd(text: string, from: number, walk: string): number {
  let end = from
  let at = walk.indexOf(text.charAt(from))
  while (at !== -1 && end < text.length && text.charAt(end) === walk.charAt(at)) {
    end += 1
    at += 1
    if (at === walk.length) break
  }
  return end
}
