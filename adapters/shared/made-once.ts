// Far more than the library has of one collection. Guards that differ each time are made each time.
const mostKept = 100

/**
 * Makes what each key stands for once, as long as there are not too many keys. Making a statement's text
 * takes longer than anything else of a call does, and a text that is made each time has to be looked up letter by
 * letter.
 */
export function madeOnce<T>(): (key: string, make: () => T) => T {
  const made = new Map<string, T>()
  return (key, make) => {
    const known = made.get(key)
    if (known !== undefined) return known
    const fresh = make()
    if (made.size < mostKept) made.set(key, fresh)
    return fresh
  }
}
