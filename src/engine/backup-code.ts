/** Crockford's alphabet: digits and letters without I, L, O and U. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/**
 * The `index`-th code of a set, as it is shown: `xxxxx-xxxxx`. Its first character names its place
 * in the set, so that a guess costs one hash however many codes there are; the other nine are 45
 * random bits.
 *
 * @param random at least nine random bytes
 */
export function formatBackupCode(index: number, random: Uint8Array): string {
  // 256 is a multiple of 32: every character is as likely as any other.
  const letters = Array.from(random.subarray(0, 9), (byte) => alphabet[byte % 32] ?? '')
  const code = (alphabet[index] ?? '') + letters.join('')
  return `${code.slice(0, 5)}-${code.slice(5)}`
}

/** A typed code and its place in the set. */
export interface TypedBackupCode {
  readonly index: number
  /** As it was hashed. */
  readonly code: string
}

/** Reads what a person typed: any case, the hyphen or none. Null for anything else. */
export function parseBackupCode(typed: string): TypedBackupCode | null {
  const match = /^([0-9A-HJKMNP-TV-Z]{5})-?([0-9A-HJKMNP-TV-Z]{5})$/i.exec(typed)
  if (match === null) return null
  const code = `${match[1]}-${match[2]}`.toUpperCase()
  return { index: alphabet.indexOf(code.charAt(0)), code }
}
