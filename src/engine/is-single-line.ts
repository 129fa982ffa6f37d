/** Control characters, line and paragraph separators, and what turns the direction of text (UAX #9). */
const breaking = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u

/**
 * Whether a name looks in a list or a mail as it was written: a line break begins a line of its own,
 * and a character such as U+202E shows what follows from right to left.
 */
export function isSingleLine(text: string): boolean {
  return !breaking.test(text)
}
