import { AuthError } from '../../errors/index.js'

/**
 * The value of a JSON text in UTF-8. Throws `invalid_request` for any other bytes, and for an object
 * with a member twice: readers disagree about which one counts (RFC 8259 §4).
 */
export function parseJson(bytes: Uint8Array): unknown {
  const { text, value } = parsed(bytes)
  if (membersWritten(text) === membersIn(value)) return value
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

const [quote, backslash, colon] = ['"', '\\', ':']

/** How many members all objects in a JSON text have: outside of strings, each colon stands behind a member's name. */
function membersWritten(text: string): number {
  let count = 0
  let isInString = false
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at)
    if (isInString && char === backslash) at += 1
    else if (char === quote) isInString = !isInString
    else if (char === colon && !isInString) count += 1
  }
  return count
}

/** How many members all objects in the value have. No recursion: 64 KiB hold thirty thousand arrays in each other. */
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
