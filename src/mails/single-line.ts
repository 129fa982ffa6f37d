/** Control characters, line and paragraph separators. */
const lineBreaking = /[\p{Cc}\p{Zl}\p{Zp}]+/gu

/** What turns the direction of the text around it (UAX #9). */
const turning = /\p{Bidi_Control}+/gu

/** Words of a language, which may turn directions, as one line. */
export function singleLine(text: string): string {
  return text.toWellFormed().replaceAll(lineBreaking, ' ').trim()
}

/**
 * A value of a mail, as one line of at most `longest` characters. It cannot begin a line, and leaves the text after it
 * as it was written.
 */
export function plainValue(text: string, longest: number): string {
  // Cut first: a character is at most two code units.
  const line = singleLine(text.slice(0, longest * 2 + 2).replaceAll(turning, ' '))
  const characters = [...line]
  if (characters.length <= longest) return line
  return `${characters.slice(0, longest - 1).join('')}…`
}
