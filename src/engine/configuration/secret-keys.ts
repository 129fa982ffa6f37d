import { type FieldDeclaration, FieldRecordList, isSecret } from './config-declaration.js'
import { fieldsByKey } from './config-keys.js'
import { isSealedText, sealedPrefix } from './sealed-text.js'
import { isSlug } from './slug.js'

/**
 * A test for stored texts that are secrets. The declaration decides; a text under an undeclared key is
 * a secret if it is encrypted. So is one of a field that was declared as a secret when it was stored.
 */
export function secretTest(
  declarations: readonly FieldDeclaration[],
): (key: string, text: string) => boolean {
  const fields = fieldsByKey(declarations.filter(({ type }) => type !== FieldRecordList))
  const lists = new Map(
    declarations.flatMap(({ key, type, items = [] }) => {
      if (type !== FieldRecordList) return []
      return [[key, new Map(items.map((item) => [item.key, isSecret(item)]))]]
    }),
  )

  /** Null for a key that no declaration accounts for, whatever stands in it for a slug. */
  function declaredSecret(key: string): boolean | null {
    const dot = key.indexOf('.')
    if (dot < 0) {
      const field = fields.get(key)
      return field === undefined ? null : isSecret(field)
    }
    const items = lists.get(key.slice(0, dot))
    if (items === undefined) return null
    const end = key.indexOf('.', dot + 1)
    const name = key.slice(Math.max(dot, end) + 1)
    if (name === (end < 0 ? '__items' : '__label')) return false
    return end < 0 ? null : (items.get(name) ?? null)
  }

  const secretFields = new Set([...fields.values()].filter(isSecret).map(({ key }) => key))
  const endings = endingsOfSecrets(lists)

  /** False for most keys there are, without taking them apart. */
  function mayBeSecret(key: string): boolean {
    return secretFields.has(key) || endings.some((ending) => key.endsWith(ending))
  }

  return (key, text) => {
    const isSealed = text.startsWith(sealedPrefix)
    if (!isSealed && !mayBeSecret(key)) return false
    const declared = declaredSecret(key)
    // Slugs cost the most to look at, and mostly decide nothing.
    if (declared === null || declared === isSealed) return isSealed
    return slugIsFine(key) ? declared || isSealedText(text) : isSealed
  }
}

/** How the keys of declared secrets in elements end, each ending once. */
function endingsOfSecrets(
  lists: ReadonlyMap<string, ReadonlyMap<string, boolean>>,
): readonly string[] {
  const items = [...lists.values()].flatMap((list) => [...list])
  return [...new Set(items.flatMap(([item, secret]) => (secret ? [`.${item}`] : [])))]
}

function slugIsFine(key: string): boolean {
  const dot = key.indexOf('.')
  const end = key.indexOf('.', dot + 1)
  return dot < 0 || end < 0 || isSlug(key.slice(dot + 1, end))
}
