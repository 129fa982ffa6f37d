/** Text every store can hold: well-formed UTF-16 without NUL. False for whatever a cast let in. */
export function isStorable(text: unknown): text is string {
  return typeof text === 'string' && text.isWellFormed() && !text.includes('\0')
}
