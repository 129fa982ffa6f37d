/** Longer is no hash that is known here. */
const maxLength = 512

/** A hash that may be checked, one that costs more than a login may, or null: another form. */
export type ReadHash<T> = T | 'tooCostly' | null

export interface SaltAndTag {
  readonly salt: Uint8Array
  readonly tag: Uint8Array
}

/** The parts that a form finds in a text; null for another form, and for a text without bounds. */
export function partsOf(form: RegExp, text: string): readonly string[] | null {
  const match = text.length <= maxLength ? form.exec(text) : null
  return match === null ? null : match.slice(1)
}

/**
 * Null unless a guess could not meet the tag by luck (16 to 128 bytes), and there is a salt of at most
 * 128 bytes.
 */
export function saltAndTag(salt: Uint8Array | null, tag: Uint8Array | null): SaltAndTag | null {
  if (salt === null || salt.length < 1 || salt.length > 128) return null
  return tag === null || tag.length < 16 || tag.length > 128 ? null : { salt, tag }
}

/** Where a product hashes the salt as it is written. */
export function textBytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

export function fromHex(text: string): Uint8Array | null {
  return /^(?:[0-9a-f]{2})+$/.test(text) ? Buffer.from(text, 'hex') : null
}

/**
 * Base64 of every kind that products write: the standard alphabet, that of URLs and the one of passlib,
 * with padding and without. Null unless it is the one way to write these bytes.
 */
export function fromBase64(text: string): Uint8Array | null {
  const plain = text.replace(/={1,2}$/, '').replaceAll('.', '+')
  if (!/^[A-Za-z0-9+/_-]+$/.test(plain)) return null
  const bytes = Buffer.from(plain, 'base64')
  const url = plain.replaceAll('+', '-').replaceAll('/', '_')
  return bytes.toString('base64url') === url ? bytes : null
}
