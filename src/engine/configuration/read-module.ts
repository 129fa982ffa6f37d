import {
  FieldBool,
  type FieldDeclaration,
  FieldDuration,
  FieldInt,
  FieldRecordList,
  FieldSecret,
  FieldSelect,
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
      : readScalar(field, field.default ?? '', storedText(values, field.key), (problem) =>
          warn(`Setting "${module.name}.${field.key}" ${problem}`),
        ),
  ])
  // The keys and types are those of the declarations, which a map of them cannot show.
  return Object.fromEntries(read) as FieldValues<Fields>
}

function readElements(field: FieldDeclaration, values: Values, module: string, warn: Warn) {
  const items = field.items ?? []
  return readRecordList(field, values).map((element) => ({
    ...Object.fromEntries(
      items.map((item) => [
        item.key,
        readScalar(item, '', element[item.key] ?? '', (problem) =>
          warn(`Setting "${module}.${field.key}.${element.slug}.${item.key}" ${problem}`),
        ),
      ]),
    ),
    slug: element.slug,
    label: element.label,
  }))
}

function readScalar(
  declaration: ValueDeclaration,
  usual: string,
  stored: string,
  warn: Warn,
): Scalar {
  // Cutting a secret to length would make another secret of it.
  const parse = (text: string): Reading<Scalar> | null =>
    declaration.type === FieldSecret ? { value: text, inRange: true } : readValue(declaration, text)
  const initial = usual === '' ? null : parse(usual)
  return readStored(stored, parse, initial?.value ?? unset(declaration), (problem) =>
    warn(
      problem === 'out of range'
        ? 'is out of range; the nearest allowed value is used.'
        : 'cannot be read; it counts as not set.',
    ),
  )
}

function unset({ type }: ValueDeclaration): Scalar {
  if (type === FieldBool) return false
  return type === FieldInt || type === FieldDuration || type === FieldSelect ? null : ''
}
