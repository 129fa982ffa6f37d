import { formDecoded } from '../../engine/text.js'
import { AuthError } from '../../errors/index.js'

/** More than any endpoint of the library takes. */
const mostMembers = 64

/**
 * The members of a form (`application/x-www-form-urlencoded`, RFC 6749 appendix B): `+` is a space, what is
 * percent-encoded is UTF-8. Throws `invalid_request` for bytes that are none of that, for more members
 * than any form has, and for a member that is there twice: readers disagree about which one counts.
 */
export function parseForm(bytes: Uint8Array): Readonly<Record<string, string>> {
  const text = formText(bytes)
  const pairs = text === '' ? [] : text.split('&', mostMembers + 1)
  if (pairs.length > mostMembers) throw refused('The form has too many members.')
  const members = pairs.map((pair): readonly [string, string] => {
    const at = pair.indexOf('=')
    return at < 0 ? [decoded(pair), ''] : [decoded(pair.slice(0, at)), decoded(pair.slice(at + 1))]
  })
  return once(members)
}

/** The same of a form that the host's own parser has read, where each member has to be one text. */
export function parsedForm(value: unknown): Readonly<Record<string, string>> {
  if (typeof value !== 'object' || value === null) throw refused('The form could not be read.')
  const members = Object.entries(value).map(([name, text]): readonly [string, string] => {
    if (typeof text === 'string') return [name, text]
    throw refused('The form has a member twice.')
  })
  if (members.length > mostMembers) throw refused('The form has too many members.')
  return once(members)
}

function once(members: readonly (readonly [string, string])[]): Readonly<Record<string, string>> {
  const form = Object.fromEntries(members)
  if (Object.keys(form).length === members.length) return form
  throw refused('The form has a member twice.')
}

function formText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw refused('The form is not text in UTF-8.')
  }
}

function decoded(text: string): string {
  const plain = formDecoded(text)
  if (plain === null) throw refused('The form is not percent-encoded UTF-8.')
  return plain
}

function refused(detail: string): AuthError {
  return new AuthError('invalid_request', { detail })
}
