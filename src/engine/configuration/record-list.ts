import type { FieldDeclaration } from './config-declaration.js'
import { elementPrefix, readRoster, storedText } from './config-keys.js'

/** An element: its `slug`, which never changes, its `label`, and the text of each sub-field. */
export interface RecordElement {
  readonly slug: string
  readonly label: string
  readonly [subField: string]: string
}

/**
 * The elements of a record list, in roster order. `<field>.__items` holds the roster (slugs joined by
 * commas), `<field>.<slug>.__label` the label, and `<field>.<slug>.<subfield>` one value.
 *
 * An absent or empty roster is an empty list. A repeated slug is one element. An absent sub-field
 * reads as '', an absent label as the slug. Keys of slugs outside the roster and of undeclared
 * sub-fields are ignored.
 */
export function readRecordList(
  declaration: Pick<FieldDeclaration, 'key' | 'items'>,
  values: Readonly<Record<string, string>>,
): readonly RecordElement[] {
  const { key, items = [] } = declaration
  return readRoster(key, values).map((slug) => {
    const prefix = elementPrefix(key, slug)
    const label = storedText(values, `${prefix}__label`) || slug
    const element: Writable = { slug, label }
    for (const item of items) {
      // No sub-field can pass for the slug: such a declaration is refused, but not here.
      if (!Object.hasOwn(element, item.key))
        element[item.key] = storedText(values, prefix + item.key)
    }
    return element
  })
}

interface Writable extends RecordElement {
  [subField: string]: string
}
