export const FieldString = 'FieldString'
/** Encrypted at rest and never returned by a public reply. */
export const FieldSecret = 'FieldSecret'
/** Stored as `true` or `false`. */
export const FieldBool = 'FieldBool'
/** Stored in decimal. */
export const FieldInt = 'FieldInt'
/** Stored as typed: `15m`, `1h30m`; a bare number is seconds. */
export const FieldDuration = 'FieldDuration'
export const FieldSelect = 'FieldSelect'
/** A list of elements of one shape; see `readRecordList` for how it is stored. */
export const FieldRecordList = 'FieldRecordList'

export type FieldType =
  | typeof FieldString
  | typeof FieldSecret
  | typeof FieldBool
  | typeof FieldInt
  | typeof FieldDuration
  | typeof FieldSelect
  | typeof FieldRecordList

/** One setting a module declares. Its value is stored as text under `key`. */
export interface FieldDeclaration {
  readonly key: string
  readonly label: string
  readonly type: FieldType
  readonly group: string
  /** A node below the group. */
  readonly child?: string
  /** Environment variable whose value is stored at the first boot; the store owns it afterwards. */
  readonly envVar?: string
  /** Encrypted like a `FieldSecret`, whatever the type. */
  readonly secret?: boolean
  /** What a field that was never set reads as, in stored form. */
  readonly default?: string
  /** Code points of a string, value of an integer, milliseconds of a duration. */
  readonly min?: number
  /** Like `min`; of a record list the number of elements, which never exceeds 50. */
  readonly max?: number
  /** The values a `FieldSelect` may take. */
  readonly options?: readonly string[]
  /** Which surface the setting bears on, for display. */
  readonly surface?: 'operator' | 'client' | 'both'
  /** The sub-fields of each element; of a `FieldRecordList` only, and required there. */
  readonly items?: readonly ItemDeclaration[]
}

/** One sub-field of every element of a record list. */
export interface ItemDeclaration {
  readonly key: string
  readonly label: string
  readonly type: FieldType
  readonly required?: boolean
  /** The sub-field counts only where a sibling of the same element has this value. */
  readonly condition?: { readonly field: string; readonly equals: string }
  readonly options?: readonly string[]
  /** As of a field. */
  readonly min?: number
  /** As of a field. */
  readonly max?: number
}

/** Whether texts of this field or sub-field are encrypted at rest and never shown. */
export function isSecret(declaration: {
  readonly type: FieldType
  readonly secret?: boolean
}): boolean {
  return declaration.type === FieldSecret || declaration.secret === true
}
