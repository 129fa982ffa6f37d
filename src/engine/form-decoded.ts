/**
 * The text that a form spells (RFC 6749 appendix B): `+` is a space, what is percent-encoded is UTF-8.
 * Null for a stray percent sign, for bytes that are no UTF-8, and for text that has no UTF-8 form.
 */
export function formDecoded(text: string): string | null {
  try {
    const plain = decodeURIComponent(text.replaceAll('+', ' '))
    return plain.isWellFormed() ? plain : null
  } catch {
    return null
  }
}
