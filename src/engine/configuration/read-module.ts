import {
  FieldBool,
  type FieldDeclaration,
  FieldDuration,
  FieldInt,
  FieldRecordList,
  FieldSecret,
  FieldSelect,
  FieldString,
  isSecret,
} from './config-declaration.js'
import { storedText } from './config-keys.js'
import type { ModuleDeclaration } from './module-declaration.js'
import type { FieldValues } from './module-values.js'
import { readRecordList } from './record-list.js'
import {
  type Reading,
  readStored,
  readValue,
  type Scalar,
  type ValueDeclaration,
} from './stored-value.js'

type Values = Readonly<Record<string, string>>
type Warn = (message: string) => void

type Fielded<Fields extends readonly FieldDeclaration[]> = Pick<
  ModuleDeclaration<Fields>,
  'name' | 'fields'
>

/**
 * The typed values of a module, read from the flat map of stored texts with secrets decrypted. Never
 * throws. An absent or empty text reads as the default, without one as '', false or null. A value out
 * of range reads as the nearest allowed one, and an unreadable text as absent; both are reported to
 * `warn`, without the value, which may be a secret.
 */
export function readModule<const Fields extends readonly FieldDeclaration[]>(
  values: Values,
  module: Fielded<Fields>,
  warn: Warn = () => undefined,
): FieldValues<Fields> {
  const read = module.fields.map((field) => [
    field.key,
    field.type === FieldRecordList
      ? readElements(field, values, module.name, warn)
      : readScalar(reader(field, field.default ?? ''), storedText(values, field.key), (problem) =>
          warn(`Setting "${module.name}.${field.key}" ${problem}`),
        ),
  ])
  // The keys and types are those of the declarations, which a map of them cannot show.
  return Object.fromEntries(read) as FieldValues<Fields>
}

/** What is the same of a field in every element. */
interface Reader {
  readonly declaration: ValueDeclaration
  readonly initial: Scalar
}

function reader(declaration: ValueDeclaration, usual: string): Reader {
  const initial = usual === '' ? null : parse(declaration, usual)
  return { declaration, initial: initial?.value ?? unset(declaration) }
}

function readElements(field: FieldDeclaration, values: Values, module: string, warn: Warn) {
  const items = (field.items ?? []).map((item) => ({ key: item.key, ...reader(item, '') }))
  return readRecordList(field, values).map((texts) => {
    const { slug, label } = texts
    const element: Record<string, Scalar> = {}
    for (const item of items) {
      const { key } = item
      const text = texts[key] ?? ''
      element[key] =
        plainValue(item, text) ??
        readScalar(item, text, (problem) =>
          warn(`Setting "${module}.${field.key}.${slug}.${key}" ${problem}`),
        )
    }
    // Last, whatever the sub-fields are called.
    element['slug'] = slug
    element['label'] = label
    return element
  })
}

/** The value of a text that reads as it stands, which nearly all do; null for any other text. */
function plainValue({ declaration }: Reader, stored: string): Scalar {
  const reading = stored === '' ? null : parse(declaration, stored)
  return reading?.inRange ? reading.value : null
}

function readScalar({ declaration, initial }: Reader, stored: string, warn: Warn): Scalar {
  return readStored(
    stored,
    (text) => parse(declaration, text),
    initial,
    (problem) =>
      warn(
        problem === 'out of range'
          ? 'is out of range; the nearest allowed value is used.'
          : 'cannot be read; it counts as not set.',
      ),
  )
}

/** Cutting a secret to length would make another secret of it. */
function parse(declaration: ValueDeclaration, text: string): Reading<Scalar> | null {
  const isText = declaration.type === FieldSecret || declaration.type === FieldString
  return isText && isSecret(declaration)
    ? { value: text, inRange: true }
    : readValue(declaration, text)
}

function unset({ type }: ValueDeclaration): Scalar {
  if (type === FieldBool) return false
  return type === FieldInt || type === FieldDuration || type === FieldSelect ? null : ''
}
