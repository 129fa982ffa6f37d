import type { FieldDeclaration } from '../engine/configuration/config-declaration.js'
import type { ListRule } from './list-rule.js'

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
