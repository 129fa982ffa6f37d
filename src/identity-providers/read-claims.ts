import { asSingleLine, isSingleLine, isStorable } from '../engine/text.js'
import type { Claims } from './provider.js'

/** An identifier as the provider wrote it; null for one of another type, so that 1 is not "1". */
export function identifier(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value.length <= 255 && isPlain(value)
    ? value
    : null
}

export function emailOf({ email }: Claims): string | null {
  return typeof email === 'string' && email !== '' && email.length <= 320 ? email : null
}

/** A name as one line of at most 200 characters; empty for a value that cannot be shown. */
export function displayName(value: unknown): string {
  const name = typeof value === 'string' ? asSingleLine(value) : ''
  return name.length <= 200 && isStorable(name) ? name : ''
}

/** Providers write truth as a boolean, as a text and, one of them, as a number. */
export function isTrue(value: unknown): boolean {
  return value === true || value === 'true'
}

function isPlain(text: string): boolean {
  return text.isWellFormed() && isSingleLine(text)
}
