import { createHash } from 'node:crypto'
import type { Random } from '../../src/index.js'

/** The base64url text that all long random bytes begin with, before eight digits that count them. */
const mark = 'R4nd'

/**
 * Randomness of a seed alone. What is drawn first sorts first, as text and as the end of a UUID: lists by
 * id keep their order where a build draws more often than the other, or in another order.
 */
export function markedRandom(seed: string): Random {
  let drawn = 0
  return {
    bytes(length) {
      drawn += 1
      const hash = createHash('shake256', { outputLength: length }).update(`${seed} ${drawn}`)
      const bytes = hash.digest()
      if (length === 10) bytes.fill(0).writeUInt32BE(drawn, 6)
      if (length < 16) return bytes
      const head = Buffer.from(`${mark}${String(drawn).padStart(8, '0')}`, 'base64url')
      return Buffer.concat([head, bytes.subarray(head.length)])
    },
  }
}

const forms = [
  String.raw`eyJ[\w-]+\.[\w-]+\.[\w-]*`,
  '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}',
  String.raw`(?<=_oauth_(?:form_)?)[\w-]{16}(?==)`,
  String.raw`${mark}\d{8}[\w-]*`,
  // The code of a provider, from the stand-in.
  String.raw`(?<=\bcode-)[\w-]{24}`,
  // Base32, as the secrets of authenticator apps; then backup codes, and digests.
  '(?<![A-Z2-7])[A-Z2-7]{32}(?![A-Z2-7])',
  String.raw`(?<![\w-])[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}(?![\w-])`,
  String.raw`(?<![\w-])[\w-]{40,}`,
]
const random = new RegExp(forms.join('|'), 'g')
const words = /^[a-z]{2,}(?:[A-Z_-]?[a-z]{2,})*$/

/** Header and claims of a token; null of what was cut off. */
function partsOf(token: string): unknown {
  const parts = token.split('.').slice(0, 2)
  try {
    return parts.map((part): unknown => JSON.parse(Buffer.from(part, 'base64url').toString()))
  } catch {
    return null
  }
}

/**
 * Names what is random by its first appearance, `<1>`, `<2>`, in any JSON value: two runs read alike if they behave
 * alike. A token becomes its header and its claims.
 */
export function renaming(): (value: unknown) => unknown {
  const names = new Map<string, string>()

  function named(text: string): string {
    const name = names.get(text) ?? `<${names.size + 1}>`
    names.set(text, name)
    return name
  }

  function shown(text: string): string {
    const parts = text.startsWith('eyJ') ? partsOf(text) : null
    if (parts !== null) return `<token ${JSON.stringify(renamed(parts))}>`
    if (words.test(text)) return text
    const at = Math.max(0, text.indexOf(mark))
    return text.slice(0, at) + named(text.slice(at))
  }

  function renamed(value: unknown): unknown {
    if (typeof value === 'string') return value.replace(random, shown)
    if (Array.isArray(value)) return value.map(renamed)
    if (typeof value !== 'object' || value === null) return value
    const named = Object.entries(value).map(([key, own]) => {
      // A code of an authenticator app follows from its secret.
      return [key, key === 'code' && /^\d{6}$/.test(String(own)) ? '<code>' : renamed(own)]
    })
    return Object.fromEntries(named)
  }

  return renamed
}
