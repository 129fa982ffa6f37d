import type { ReadHash } from './hash-text.js'

/** About a second. */
const mostCost = 14

const form = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/

/**
 * A bcrypt hash as the libraries for Node read it, or null for every other text. `tooCostly` above a cost
 * of 14. Never throws.
 */
export function readBcryptHash(text: string): ReadHash<string> {
  const cost = Number(form.exec(text)?.[1] ?? Number.NaN)
  if (!(cost >= 4)) return null
  if (cost > mostCost) return 'tooCostly'
  // PHP's name for what others call 2b, and not all libraries know it.
  return text.replace(/^\$2y\$/, '$2b$')
}

export async function verifyBcrypt(
  compare: (password: string, hash: string) => Promise<boolean>,
  hash: string,
  password: Uint8Array,
): Promise<boolean> {
  // Some libraries read no further, and would take what comes after it for right.
  if (password.includes(0)) return false
  // A mark at the beginning is part of the password, as every other character is.
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(password)
  return (await compare(text, hash)) === true
}
