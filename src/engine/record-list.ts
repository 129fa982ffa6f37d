import type { FieldDeclaration } from './config-declaration.js'
import { elementPrefix, readRoster, storedText } from './config-keys.js'

/** One element: its fixed `slug`, its `label`, and the text of every declared sub-field. */
export interface RecordElement {
  readonly slug: string
  readonly label: string
  readonly [subField: string]: string
}

/**
 * The elements of a record list, in roster order. `<field>.__items` holds the roster (slugs joined
 * by commas), `<field>.<slug>.__label` the label, `<field>.<slug>.<subfield>` one value.
 *
 * An absent or empty roster is an empty list; a slug it names twice is one element. A sub-field that
 * was never set reads as '', a missing label as the slug. Keys of slugs outside the roster, and of
 * undeclared sub-fields, are not read.
 */
export function readRecordList(
  declaration: Pick<FieldDeclaration, 'key' | 'items'>,
  values: Readonly<Record<string, string>>,
): readonly RecordElement[] {
  return readRoster(declaration.key, values).map((slug) => {
    const prefix = elementPrefix(declaration.key, slug)
    const subFields = (declaration.items ?? []).map((item): [string, string] => [
      item.key,
      storedText(values, prefix + item.key),
    ])
    // The element's own names come last: no sub-field can pass for the slug.
    return {
      ...Object.fromEntries(subFields),
      slug,
      label: storedText(values, `${prefix}__label`) || slug,
    }
  })
}
