import type { FieldDeclaration } from './config-declaration.js'
import { secretTest } from './secret-keys.js'

type Values = Readonly<Record<string, string>>

/** One key that differs between two states of an environment. */
export type RevisionChange =
  | {
      readonly key: string
      readonly kind: 'added' | 'removed' | 'changed'
      readonly secret: false
      /** The texts; null = the key was not there, or is not there any more. */
      readonly before: string | null
      readonly after: string | null
    }
  /** A secret that was set, replaced, cleared or removed: which of them is not told, nor any text. */
  | { readonly key: string; readonly kind: 'changed'; readonly secret: true }

/** Values that may be shown and kept. */
export interface PublicValues {
  /** Everything that is no secret, as stored. */
  readonly values: Values
  /** The keys of the secrets that have a value. */
  readonly secretsSet: readonly string[]
}

/**
 * What changed from `before` to `after`, by key in code-unit order. Both are maps as stored, where
 * an encrypted text differs whenever it was written. Holds no secret: not of removed elements, nor
 * of sub-fields and fields that are declared no more.
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

/** The values without the secrets: what a history entry or a reply may hold of them. */
export function publicValues(
  values: Values,
  declarations: readonly FieldDeclaration[],
): PublicValues {
  const isSecret = secretTest(declarations)
  const entries = Object.entries(values)
  return {
    values: Object.fromEntries(entries.filter(([key, text]) => !isSecret(key, text))),
    secretsSet: entries.flatMap(([key, text]) => (text !== '' && isSecret(key, text) ? [key] : [])),
  }
}
