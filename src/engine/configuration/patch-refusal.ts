/** Which elements of one record list come and go. Other elements stay as they are. */
export interface RecordListChange {
  /** The key of a `FieldRecordList`. */
  readonly field: string
  /** Slugs of new elements, appended to the roster in this order. */
  readonly create: readonly string[]
  /** Slugs of elements to destroy with every key they have. */
  readonly remove: readonly string[]
}

/** An edit of one environment. What it does not mention stays. */
export interface ConfigPatch {
  /** New texts by key; an empty text clears. */
  readonly config?: Readonly<Record<string, string>>
  readonly recordLists?: readonly RecordListChange[]
  /** The revision the edit was made on; required as soon as an element is removed. */
  readonly revision?: number
}

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
 * Why a patch was not applied. 422 is a patch that has to be written anew; 409 one that was made on
 * another state: read the environment again and retry.
 */
export interface PatchRefusal {
  readonly status: 409 | 422
  readonly code: PatchRefusalCode
  /** The key or record list it is about, as the patch spelled it; null = the patch as a whole. */
  readonly field: string | null
  /** Safe to show: holds names the patch used, never a value. */
  readonly message: string
  /** Of a 409: the environment's revision now. */
  readonly revision?: number
  /** Of `config.roster_conflict`: the elements that are there already, or are gone. */
  readonly slugs?: readonly string[]
}
