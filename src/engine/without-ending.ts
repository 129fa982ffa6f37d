/**
 * The text without any of these characters at its end. It is no regular expression: one for the end of a text tries
 * each place, so that a text of blanks alone takes time by the square of its length.
 */
export function withoutEnding(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1
  return text.slice(0, end)
}
