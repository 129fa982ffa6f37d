import type { ConfigPatch } from '../../engine/configuration/config-patch.js'
import { isStorable } from '../../engine/is-storable.js'
import { AuthError } from '../../errors/index.js'

/** An edit of the host's code. */
export interface ConfigChange extends ConfigPatch {
  /** Default: the environment that is active at the write. Changes of record lists have to name one. */
  readonly environment?: string
}

const members = ['environment', 'config', 'recordLists', 'revision']
const listMembers = ['field', 'create', 'remove']

const shape =
  'A change must be { environment?, config?, recordLists?, revision? }: texts by key, lists as { field, create, remove }, a whole revision.'

/** A change as the host's code gave it, which no compiler may have checked. Throws `invalid_request`. */
export function checkedChange(given: ConfigChange): ConfigChange {
  if (!isChange(given)) throw new AuthError('invalid_request', { detail: shape })
  return given
}

function isChange(given: unknown): given is ConfigChange {
  if (!hasOnly(given, members)) return false
  const { environment, config = {}, recordLists = [], revision } = given
  return (
    (environment === undefined || isStorable(environment)) &&
    (revision === undefined || Number.isSafeInteger(revision)) &&
    isObject(config) &&
    Object.values(config).every(isStorable) &&
    Array.isArray(recordLists) &&
    recordLists.every(isListChange)
  )
}

function isListChange(given: unknown): boolean {
  if (!hasOnly(given, listMembers)) return false
  const { field, create, remove } = given
  return isStorable(field) && [create, remove].every(isTexts)
}

function isTexts(given: unknown): boolean {
  return Array.isArray(given) && given.every(isStorable)
}

function hasOnly(given: unknown, names: readonly string[]): given is Record<string, unknown> {
  return isObject(given) && Object.keys(given).every((name) => names.includes(name))
}

function isObject(given: unknown): given is Readonly<Record<string, unknown>> {
  return typeof given === 'object' && given !== null && !Array.isArray(given)
}
