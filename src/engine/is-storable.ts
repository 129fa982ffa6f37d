/** Text every store can hold: well-formed UTF-16 without NUL. False for whatever a cast let in. */
export function isStorable(text: unknown): text is string {
  return typeof text === 'string' && text.isWellFormed() && !text.includes('\0')
}

/** The most UTF-16 code units of an id, which every store can hold as a key. */
export const longestId = 255

/** Text every store can hold as an id. */
export function isStorableId(text: unknown): text is string {
  return isStorable(text) && text.length <= longestId
}
