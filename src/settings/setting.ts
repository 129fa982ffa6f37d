import {
  FieldBool,
  type FieldDeclaration,
  FieldDuration,
  FieldInt,
  FieldRecordList,
  FieldSecret,
  FieldSelect,
  FieldString,
  type ItemDeclaration,
} from '../engine/configuration/config-declaration.js'
import {
  type RecordElement,
  readRecordList,
  storedText,
} from '../engine/configuration/config-keys.js'
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
import type { IsPublicAddress } from './address-rules.js'

export const minute = 60_000
export const hour = 60 * minute
export const day = 24 * hour

/** What the settings are read from. */
export interface StoredSettings {
  /** The flat map of stored texts, secrets decrypted. */
  readonly values: Readonly<Record<string, string>>
  readonly env: Readonly<Record<string, string | undefined>>
  /** Is told what was out of range or unreadable, never the text, which may be a secret. */
  warn(message: string): void
}

/** One setting: its declaration, what a new value must be like, and how the stored one is read. */
export interface Setting<T> {
  /** All but its key, under which it stands in its group. */
  readonly declaration: Omit<FieldDeclaration, 'key'>
  /** The value in force. Never throws: whatever is stored, it is of its type and in its range. */
  read(key: string, stored: StoredSettings): T
  /** Whether a text, which is not empty, may become the value. */
  accepts(text: string): boolean
  /** What such a text must be like, as the second half of a sentence. */
  readonly form: string
  /** The code of a refused value; `value_out_of_range` without one. */
  readonly code?: string
  /** Whether the value has lines. */
  readonly hasLines?: true
  /** Whether a cleared value means something else than one that was never set. */
  readonly isSetWhenEmpty?: true
  /** Whether the environment decides while nothing is stored. */
  isSetBy?(env: StoredSettings['env']): boolean
  /** For a record list: what its elements must be like. */
  readonly list?: ListRule
}

/** The settings of a group, each under its key. */
export type Settings<Group> = { readonly [Key in keyof Group]: Setting<Group[Key]> }

type DurationKey = `${string}${'TTL' | 'MaxAge' | 'Grace' | 'Duration'}`

/** The settings of a group as first values: any may be left out, and a duration is a text. */
export type FirstValues<Group> = {
  readonly [Key in keyof Group]?: Key extends DurationKey ? string : Group[Key]
}

/** What the elements of a record list must be like. */
export interface ListRule {
  readonly items: readonly ItemDeclaration[]
  /** The sub-field that is judged beyond its type. */
  readonly item: string
  /** The code of a refused edit, behind the module's name. */
  readonly code: string
  /** What is wrong with that sub-field, which is not empty, as the second half of a sentence. */
  problem(text: string, element: RecordElement, given: ElementSource): string | null
}

/** Where an element comes from, and what judges literal IP addresses in it. */
export interface ElementSource {
  /** True for a first value, which may be for developing on this machine; false for an edit. */
  readonly firstValues: boolean
  readonly isPublicAddress: IsPublicAddress
}

/** A record list: its rule, and what a stored element reads as. */
export interface RecordList<Element> extends ListRule {
  /** None for an element that is left out. `warn` is told what becomes of a damaged one. */
  read(element: RecordElement, warn: (effect: string) => void): readonly Element[]
}

/** An element given as a first value. */
export interface InitialElement {
  /** Names the element for good: lower-case words joined by hyphens, at most 63 characters. */
  readonly slug: string
  /** Shown to administrators; the slug when left out. */
  readonly label?: string
}

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
