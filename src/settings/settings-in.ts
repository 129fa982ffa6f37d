import {
  FieldBool,
  type FieldDeclaration,
  FieldDuration,
  FieldInt,
  FieldRecordList,
  FieldSecret,
  FieldSelect,
  FieldString,
} from '../engine/configuration/config-declaration.js'
import { readRecordList, storedText } from '../engine/configuration/config-keys.js'
import {
  expectedForm,
  type Reading,
  readBool,
  readChoice,
  readDuration,
  readInt,
  readStored,
  readText,
} from '../engine/configuration/stored-value.js'
import { formatDuration } from '../engine/duration.js'
import type { RecordList } from './list-rule.js'
import type { Setting } from './setting.js'

type Declaration = Omit<FieldDeclaration, 'key'>
/** The surface is `both` where none is given. */
type Given = Pick<Declaration, 'label' | 'default' | 'min' | 'max' | 'envVar' | 'surface'>
type Parse<T> = (declaration: Declaration, text: string) => Reading<T> | null

/** Makes the settings of a group, or of one of its children. */
export function settingsIn(group: string, child?: string) {
  const node = child === undefined ? { group } : { group, child }

  function declare(
    type: FieldDeclaration['type'],
    { label, surface = 'both', ...given }: Given,
    options?: readonly string[],
  ): Declaration {
    const choice = options === undefined ? {} : { options }
    return { label, type, ...given, ...choice, ...node, surface }
  }

  return {
    bool: (given: Given) => plain(declare(FieldBool, given), (_, text) => readBool(text)),
    int: (given: Given, parse: Parse<number> = readInt) => plain(declare(FieldInt, given), parse),
    duration: (given: Given) => plain(declare(FieldDuration, given), readDuration, formatDuration),
    /** Null is the default. */
    durationOrNone: (given: Given) =>
      plain<number | null>(declare(FieldDuration, given), readDurationOrNone, (ms) =>
        ms === null ? 'none' : formatDuration(ms),
      ),
    choice: <T extends string>(options: readonly T[], given: Given) =>
      plain(declare(FieldSelect, given, options), (_, text) => readChoice(options, text)),
    text: (given: Given) => plain(declare(FieldString, given), readText, beginning),
    /** Given through as it is; whether it is a good secret shows when it is used. */
    secret(given: Given): Setting<string> {
      const { label, type, ...rest } = declare(FieldSecret, given)
      const setting = plain({ label, type, secret: true, ...rest }, readText)
      return { ...setting, read: (key, { values }) => storedText(values, key) }
    },
    list<Element>(given: Given, { read, ...rule }: RecordList<Element>) {
      const { items } = rule
      const declaration = { ...declare(FieldRecordList, given), items }
      const setting: Setting<readonly Element[]> = {
        declaration,
        form: expectedForm(declaration),
        accepts: () => false,
        list: rule,
        read: (key, { values, warn }) =>
          readRecordList({ key, items }, values).flatMap((element) =>
            read(element, (effect) =>
              warn(`Setting "${key}.${element.slug}" is incomplete; ${effect}.`),
            ),
          ),
      }
      return setting
    },
  }
}

/**
 * A setting read as those of any module are: what was never set or was cleared as its default, what
 * is out of range as the nearest allowed value, what cannot be read as its default.
 */
function plain<T>(
  declaration: Declaration,
  parse: Parse<T>,
  show: (value: T) => string = String,
): Setting<T> {
  const parsed = (text: string) => parse(declaration, text)
  const usual = parsed(declaration.default ?? '')
  if (usual === null) throw new Error(`The setting "${declaration.label}" has no usable default`)
  return {
    declaration,
    form: expectedForm(declaration),
    accepts: (text) => parsed(text)?.inRange === true,
    read: (key, { values, warn }) =>
      readStored(storedText(values, key), parsed, usual.value, (problem, used) =>
        warn(
          problem === 'out of range'
            ? `Setting "${key}" is out of range; using ${show(used)}.`
            : `Setting "${key}" cannot be read; its default is used.`,
        ),
      ),
  }
}

function readDurationOrNone(declaration: Declaration, text: string): Reading<number | null> | null {
  return text === '' ? { value: null, inRange: true } : readDuration(declaration, text)
}

function beginning(text: string): string {
  return `its first ${Array.from(text).length} characters`
}
