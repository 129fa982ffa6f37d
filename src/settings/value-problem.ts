import { encryptedProblem, isSealedText } from '../engine/configuration/stored-value.js'
import type { Setting } from './setting.js'

/**
 * What is wrong with `text` as a new value of a setting that is not a record list, as the second
 * half of a sentence; null when nothing is. An empty text clears a setting and is always right.
 * Never repeats the text, which may be a secret.
 */
export function valueProblem(setting: Setting<unknown>, text: string): string | null {
  if (text === '') return null
  const inLine = setting.hasLines ? text.replace(/[\r\n]/g, '') : text
  if (/[\p{Cc}\p{Cs}]/u.test(inLine)) return 'must not contain control characters or broken Unicode'
  if (isSealedText(text)) return encryptedProblem.problem
  return setting.accepts(text) ? null : setting.form
}
