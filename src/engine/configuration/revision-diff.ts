import { mapTexts } from '../map-texts.js'
import type { FieldDeclaration } from './config-declaration.js'
import { secretTest } from './secret-keys.js'

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
