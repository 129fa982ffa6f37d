/** A text. Reads as `string`, `''` without value and default. */
export const FieldString = 'FieldString'
/** A text that is encrypted at rest and never part of a reply. Reads as `string`. */
export const FieldSecret = 'FieldSecret'
/** Stored as `true` or `false`. Reads as `boolean`, false without value and default. */
export const FieldBool = 'FieldBool'
/** Stored in decimal. Reads as `number`, null without value and default. */
export const FieldInt = 'FieldInt'
/** Stored as `15m`, `1h30m`; a bare number is seconds. Reads as milliseconds, or null without any. */
export const FieldDuration = 'FieldDuration'
/** One of `options`. Reads as their union, null without value and default. */
export const FieldSelect = 'FieldSelect'
/** A list of elements of one shape; see `readRecordList` for how it is stored. */
export const FieldRecordList = 'FieldRecordList'

/** The type of a field or sub-field. */
export type FieldType =
  | typeof FieldString
  | typeof FieldSecret
  | typeof FieldBool
  | typeof FieldInt
  | typeof FieldDuration
  | typeof FieldSelect
  | typeof FieldRecordList

/** A field that a module declares. Its value is stored as text under `key`. */
export interface FieldDeclaration {
  /** Letters, digits and underscores; names beginning with `__` are reserved. */
  readonly key: string
  /** The name that an administration page shows. */
  readonly label: string
  readonly type: FieldType
  /** The heading under which an administration page shows it. */
  readonly group: string
  /** A subheading below the group. */
  readonly child?: string
  /**
   * The environment variable that gives the first value. Once stored, the variable has no effect. A text that the field
   * cannot hold is not stored, and `migrate()` logs a warning that names module, field, variable and shape.
   */
  readonly envVar?: string
  /** Encrypts the field at rest like a `FieldSecret`. Default false. */
  readonly secret?: boolean
  /** The value of a field without a stored one, in stored form. A secret has no default. */
  readonly default?: string
  /** The least number of code points of a text, value of an integer, milliseconds of a duration. */
  readonly min?: number
  /** Like `min`, the most; for a record list the number of elements, never more than 50. */
  readonly max?: number
  /** The values that a `FieldSelect` accepts. */
  readonly options?: readonly string[]
  /** The surface that the field concerns, for display. */
  readonly surface?: 'operator' | 'client' | 'both'
  /** The sub-fields of each element. Required for a `FieldRecordList`, and not allowed elsewhere. */
  readonly items?: readonly ItemDeclaration[]
}

/** A sub-field of every element of a record list. */
export interface ItemDeclaration {
  readonly key: string
  readonly label: string
  readonly type: FieldType
  /** Refuses an element that is created or edited without it. Default false. */
  readonly required?: boolean
  /** `required` counts only in elements whose sub-field `field` has this value. */
  readonly condition?: { readonly field: string; readonly equals: string }
  readonly options?: readonly string[]
  /** As for a field. */
  readonly min?: number
  /** As for a field. */
  readonly max?: number
}

/** Whether texts of this field or sub-field are encrypted at rest and never shown. */
export function isSecret(declaration: {
  readonly type: FieldType
  readonly secret?: boolean
}): boolean {
  return declaration.type === FieldSecret || declaration.secret === true
}

const ceiling = 50

/** How many elements a record list may have: its `max`, never more than 50; 50 without one. */
export function maxElements(declaration: Pick<FieldDeclaration, 'max'> | undefined): number {
  const max = declaration?.max ?? 0
  return max > 0 ? Math.min(max, ceiling) : ceiling
}
