import { AuthError } from '../../errors/index.js'

/** A string of JSON, written so that no text makes it backtrack. */
const stringForm = /"[^"\\]*(?:\\.[^"\\]*)*"/g

/**
 * The value of a JSON text in UTF-8. Throws `invalid_request` for any other bytes, and for an object
 * with a member twice: readers disagree about which one counts (RFC 8259 §4).
 */
export function parseJson(bytes: Uint8Array): unknown {
  const { text, value } = parsed(bytes)
  // Outside of strings, each colon stands behind the name of a member.
  const written = text.replace(stringForm, '').split(':').length - 1
  if (written === membersIn(value)) return value
  throw new AuthError('invalid_request', { detail: 'The request body has a member twice.' })
}

function parsed(bytes: Uint8Array): { readonly text: string; readonly value: unknown } {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return { text, value: JSON.parse(text) }
  } catch {
    throw new AuthError('invalid_request', { detail: 'The request body is not valid JSON.' })
  }
}

/** Of all objects in the value. It is no recursion: 64 KiB hold thirty thousand arrays in each other. */
function membersIn(value: unknown): number {
  const waiting: unknown[] = [value]
  let count = 0
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (typeof next !== 'object' || next === null) continue
    const members = Object.values(next)
    if (!Array.isArray(next)) count += members.length
    for (const member of members) waiting.push(member)
  }
  return count
}
