import type { PasswordViolation } from '../errors/index.js'
import { utf8Length } from './text.js'

/** The rules that are judged by the password and the words around it alone. */
export type PasswordRule = Exclude<PasswordViolation, 'breached' | 'reused'>

/** The longest password that is hashed, in UTF-8 bytes; what is longer is refused, never cut. */
export const maxPasswordBytes = 1024

export interface PasswordJudgement {
  readonly password: string
  /** Code points, after NFC. */
  readonly minLength: number
  readonly isCommon: (password: string) => boolean
  /** The account's e-mail address and name, and the deployment's names and hosts, as they are. */
  readonly contextWords: readonly string[]
  readonly blockCommon: boolean
  readonly blockContextual: boolean
}

/**
 * The password as it is measured and hashed: NFC, so that a composed and a decomposed "é" are one
 * password, and otherwise untouched (no trimming, no case folding). Null for text with a lone
 * surrogate, which has no UTF-8 form: hashing would make different passwords equal.
 */
export function normalizePassword(text: string): string | null {
  return /\p{Cs}/u.test(text) ? null : text.normalize('NFC')
}

/**
 * The rules a password violates; empty when it is acceptable. There are no composition rules
 * (NIST SP 800-63B-4 §3.1.1.2).
 *
 * `contextual` means: the password contains the local part of the e-mail address; or it contains
 * parts of that or of the other words, and without them fewer than `minLength` code points are
 * left. A long passphrase may thus hold the product's name or the person's; a short password may
 * not be built around it. Compared are words of four characters and more, whatever their case,
 * accents and digits for letters.
 */
export function violatedRules(judgement: PasswordJudgement): readonly PasswordRule[] {
  const { minLength, isCommon, blockCommon, blockContextual } = judgement
  const password = judgement.password.normalize('NFC')
  // Nothing else is worth the time a very long text takes.
  if (utf8Length(password) > maxPasswordBytes) return ['too_long']
  const violated: PasswordRule[] = []
  if (length(password) < minLength) violated.push('too_short')
  if (blockCommon && isCommon(password)) violated.push('common')
  if (blockContextual && isContextual(password, judgement.contextWords, minLength)) {
    violated.push('contextual')
  }
  return violated
}

function isContextual(password: string, context: readonly string[], minLength: number): boolean {
  const folded = foldWord(password)
  const { own, related } = contextWords(context)
  if (own.some((word) => folded.includes(word))) return true
  const longestFirst = [...related].sort((a, b) => b.length - a.length)
  const rest = longestFirst.reduce((text, word) => text.replaceAll(word, ''), folded)
  return rest !== folded && length(rest) < minLength
}

function length(text: string): number {
  return Array.from(text).length
}

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

/** The costs of one argon2id hash; memory in KiB. */
interface Params {
  readonly memoryCost: number
  readonly timeCost: number
  readonly parallelism: number
}

/** OWASP's recommendation, and what hashes are made with unless the host asks for more. */
export const defaultArgon2Params: Params = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** The least memory (KiB) for a number of passes (ASVS 5.0 appendix C); the last holds for more. */
const argon2Floor: readonly { readonly timeCost: number; readonly memoryCost: number }[] = [
  { timeCost: 1, memoryCost: 47_104 },
  { timeCost: 2, memoryCost: 19_456 },
  { timeCost: 3, memoryCost: 12_288 },
]

/** The highest costs that `verify` still admits, so the highest that may be hashed with. */
export const argon2Ceiling: Params = { memoryCost: 1024 * 1024, timeCost: 64, parallelism: 16 }

/**
 * What is wrong with costs a host asks for, as the second half of a sentence; null when they are
 * at or above the floor and at or below the ceiling. `allowWeak` drops the floor, for tests.
 */
export function argon2ParamsProblem(params: Params, allowWeak: boolean): string | null {
  const { memoryCost, timeCost, parallelism } = params
  const { memoryCost: maxMemory, timeCost: maxTime, parallelism: maxLanes } = argon2Ceiling
  if (!between(timeCost, 1, maxTime)) return `needs a timeCost from 1 to ${maxTime}`
  if (!between(parallelism, 1, maxLanes)) return `needs a parallelism from 1 to ${maxLanes}`
  const row = argon2Floor.findLast((one) => one.timeCost <= timeCost)
  const least = Math.max(allowWeak ? 0 : (row?.memoryCost ?? 0), 8 * parallelism)
  return between(memoryCost, least, maxMemory)
    ? null
    : `needs a memoryCost (KiB) from ${least} to ${maxMemory} at timeCost ${timeCost}`
}

function between(value: number, min: number, max: number): boolean {
  return Number.isSafeInteger(value) && value >= min && value <= max
}

/** Django's name of the algorithm, and the braces of Spring. */
const label = /^(?:argon2|bcrypt\$|\{(?:argon2|bcrypt)(?:@\w+)?\})(?=\$(?:argon2|2[aby]\$))/
const noPassword = /^(?:!.*|\*|NULL|\\N|\[NULL\]|\(null\)|)$/s

/** A hash without what products write around it; null for what they write where there is no password. */
export function bareHash(cell: string | null): string | null {
  const text = cell?.trim() ?? ''
  if (noPassword.test(text)) return null
  const hash = text.replace(label, '')
  // The PHC string format has base64 without padding.
  return hash.startsWith('$argon2') ? hash.replace(/={1,2}(?=\$|$)/g, '') : hash
}
