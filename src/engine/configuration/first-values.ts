import type { FieldRule } from './check-values.js'
import { type FieldDeclaration, FieldRecordList } from './config-declaration.js'
import { storedText } from './config-keys.js'

/** A first value that its field cannot hold. */
export interface RefusedFirstValue {
  readonly field: FieldDeclaration
  /** The second half of a sentence. Never repeats the text, which may be a secret. */
  readonly problem: string
}

/** First values, of which `usable` may be stored and `refused` may not. */
export interface JudgedFirstValues {
  readonly usable: Readonly<Record<string, string>>
  readonly refused: readonly RefusedFirstValue[]
}

/** Judges the first values of fields by `rule`. What lies below a record list was judged where it was given. */
export function judgeFirstValues(
  texts: Readonly<Record<string, string>>,
  fields: readonly FieldDeclaration[],
  rule: FieldRule,
): JudgedFirstValues {
  const refused = fields.flatMap((field): RefusedFirstValue[] => {
    const text = field.type === FieldRecordList ? '' : storedText(texts, field.key)
    const found = rule(field, text)
    return found === null ? [] : [{ field, problem: found.problem }]
  })
  const bad = new Set(refused.map(({ field }) => field.key))
  const usable = Object.fromEntries(Object.entries(texts).filter(([key]) => !bad.has(key)))
  return { usable, refused }
}
