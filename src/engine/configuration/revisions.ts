import { type FieldDeclaration, FieldRecordList, isSecret } from './config-declaration.js'
import { fieldsByKey, isSlug } from './config-keys.js'
import { isSealedText, mapTexts, sealedPrefix } from './stored-value.js'

type Values = Readonly<Record<string, string>>

/** One key that differs between two states of an environment. */
export type RevisionChange =
  | {
      readonly key: string
      readonly kind: 'added' | 'removed' | 'changed'
      readonly secret: false
      /** The stored texts; null where the key is absent. */
      readonly before: string | null
      readonly after: string | null
    }
  /** A secret was set, replaced, cleared or removed. The change does not say which. */
  | { readonly key: string; readonly kind: 'changed'; readonly secret: true }

/** Values without their secrets, safe to show and to log. */
export interface PublicValues {
  /** The texts that are not secret, as stored. */
  readonly values: Values
  /** The keys of secrets that have a value. */
  readonly secretsSet: readonly string[]
}

/**
 * The keys that differ between `before` and `after`, in code-unit order. Both are maps as stored, where
 * an encrypted text changes with every write. The result holds no secret, including those of removed
 * elements and of fields that are no longer declared.
 */
export function diffRevisions(
  before: Values,
  after: Values,
  declarations: readonly FieldDeclaration[],
): readonly RevisionChange[] {
  const isSecret = secretTest(declarations)
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  return keys.flatMap((key) => {
    const old = textOrNull(before, key)
    const now = textOrNull(after, key)
    if (old === now) return []
    const secret = isSecret(key, old ?? '') || isSecret(key, now ?? '')
    return [secret ? { key, kind: 'changed', secret } : shownChange(key, old, now)]
  })
}

function shownChange(key: string, before: string | null, after: string | null): RevisionChange {
  const replaced = before !== null && after !== null
  const kind = replaced ? 'changed' : before === null ? 'added' : 'removed'
  return { key, kind, secret: false, before, after }
}

function textOrNull(values: Values, key: string): string | null {
  return Object.hasOwn(values, key) ? (values[key] ?? null) : null
}

/** The values that a history entry or a reply may hold: all but the secrets. */
export function publicValues(
  values: Values,
  declarations: readonly FieldDeclaration[],
): PublicValues {
  const isSecret = secretTest(declarations)
  const secretsSet: string[] = []
  const shown = mapTexts(values, (key, text) => {
    if (!isSecret(key, text)) return text
    if (text !== '') secretsSet.push(key)
    return null
  })
  return { values: shown, secretsSet }
}

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
