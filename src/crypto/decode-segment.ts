/**
 * The bytes of a base64url segment, or null unless the segment is the one canonical spelling of
 * them. Decoders skip foreign characters and spare bits, so that many texts would be one token
 * (RFC 7515 §2, RFC 4648 §3.5).
 */
export function decodeSegment(segment: string): Buffer | null {
  const bytes = Buffer.from(segment, 'base64url')
  return bytes.toString('base64url') === segment ? bytes : null
}
