import type { PasswordViolation } from '../errors/index.js'
import { contextWords, foldWord } from './context-words.js'
import { utf8Length } from './utf8.js'

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
