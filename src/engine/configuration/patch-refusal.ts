/** The elements to create and to remove in one record list. Other elements stay as they are. */
export interface RecordListChange {
  /** The key of a `FieldRecordList`. */
  readonly field: string
  /** Slugs of new elements, appended to the roster in this order. Default: none. */
  readonly create?: readonly string[]
  /** Slugs of elements to remove, with every key below them. Default: none. */
  readonly remove?: readonly string[]
}

/** An edit of one environment. Keys that it does not mention stay. */
export interface ConfigPatch {
  /** New texts by key; an empty text clears. */
  readonly config?: Readonly<Record<string, string>>
  readonly recordLists?: readonly RecordListChange[]
  /** The revision that the editor saw. Required if an element is removed. */
  readonly revision?: number
}

/** The codes with which an edit is refused before any validator runs. */
export type PatchRefusalCode =
  | 'config.membership_not_allowed'
  | 'config.duplicate_field'
  | 'config.create_and_remove'
  | 'config.removal_requires_revision'
  | 'config.invalid_slug'
  | 'config.unknown_key'
  | 'config.too_many_elements'
  | 'config.revision_conflict'
  | 'config.roster_conflict'

/**
 * The reason why a patch was not applied. 422: the patch itself is wrong. 409: it was made on another
 * state of the environment; read it again and retry.
 */
export interface PatchRefusal {
  readonly status: 409 | 422
  readonly code: PatchRefusalCode
  /** The key or record list concerned, as the patch spelled it; null for the patch as a whole. */
  readonly field: string | null
  /** Safe to show: holds names from the patch, never a value. */
  readonly message: string
  /** With 409: the environment's current revision. */
  readonly revision?: number
  /** With `config.roster_conflict`: the elements that exist already, or no longer exist. */
  readonly slugs?: readonly string[]
}
