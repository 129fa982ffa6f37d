/**
 * The bytes of a base64url segment, or null unless the segment is the one canonical spelling of
 * them. Decoders skip foreign characters and spare bits, so that many texts would be one token
 * (RFC 7515 §2, RFC 4648 §3.5).
 */
export function decodeSegment(segment: string): Buffer | null {
  const bytes = Buffer.from(segment, 'base64url')
  return bytes.toString('base64url') === segment ? bytes : null
}

/**
 * The JSON object of a segment, or null unless the segment is the one spelling our signer gives
 * it. Writing the object again and comparing refuses in one step: non-canonical base64url, bytes
 * that are not UTF-8, and member names that occur twice, which parsers disagree about (RFC 7515 §4).
 */
export function decodeObject(segment: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(segment, 'base64url').toString())
    if (!isObject(value)) return null
    return Buffer.from(JSON.stringify(value)).toString('base64url') === segment ? value : null
  } catch {
    return null
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
