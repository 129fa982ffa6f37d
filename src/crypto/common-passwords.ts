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
