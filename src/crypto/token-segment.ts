import { isUtf8 } from 'node:buffer'
import { decodeSegment } from './decode-segment.js'

/**
 * The JSON object of a segment, or null unless the segment is the one spelling our signer gives
 * it: canonical base64url of UTF-8 of the text that writing the object again gives. So no member name
 * occurs twice, which parsers disagree about (RFC 7515 §4).
 */
export function decodeObject(segment: string): Readonly<Record<string, unknown>> | null {
  const bytes = decodeSegment(segment)
  if (bytes === null || !isUtf8(bytes)) return null
  const text = bytes.toString()
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) && JSON.stringify(value) === text ? value : null
  } catch {
    return null
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
