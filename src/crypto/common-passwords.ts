import { createHash } from 'node:crypto'
import { loadPart } from '../errors/index.js'

/**
 * Loads the list of common passwords (some 49,000, of `@zxcvbn-ts/language-common`) and answers
 * with a test for new passwords: true for those on the list, and for those that are a listed one
 * with decoration, a run of keys, or a repetition (`isGuessable`). Takes about 20 ms and 7 MB, once
 * per process; nothing is loaded before the first call.
 */
export async function loadCommonPasswords(): Promise<(password: string) => boolean> {
  const { commonPasswordList, isGuessable } = await loadPart(
    'the list of common passwords',
    () => import('./common-password-list.js'),
  )
  return (password) => isGuessable(password, (text) => commonPasswordList.has(text))
}

/** A password's place in the corpus of breached passwords, which is ordered by SHA-1. */
export interface BreachRange {
  /** The five digits that are sent: some 800 passwords of the corpus share them. */
  readonly prefix: string
  /** The 35 digits that stay here. */
  readonly suffix: string
}

/** The password's SHA-1 (of its UTF-8 bytes, upper-case hexadecimal) in two parts. */
export function breachRange(password: string): BreachRange {
  const digest = createHash('sha1').update(password, 'utf8').digest('hex').toUpperCase()
  return { prefix: digest.slice(0, 5), suffix: digest.slice(5) }
}

/**
 * Whether a range reply lists the suffix as seen at least once: padding has the count zero. Null
 * when the reply is no such list (an error page, a cut-off body).
 */
export function rangeHolds(reply: string, suffix: string): boolean | null {
  const lines = reply.trim().split(/\r?\n/)
  if (!lines.every((line) => /^[0-9A-F]{35}:[0-9]+$/i.test(line))) return null
  return lines.some((line) => {
    const [listed = '', count] = line.split(':')
    return listed.toUpperCase() === suffix && Number(count) > 0
  })
}
