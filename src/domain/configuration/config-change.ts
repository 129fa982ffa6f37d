import type { ConfigPatch } from '../../engine/configuration/config-patch.js'
import { isPatchShaped } from '../../engine/configuration/patch-shape.js'
import { isStorable } from '../../engine/is-storable.js'
import { AuthError } from '../../errors/index.js'

/** An edit of the host's code. */
export interface ConfigChange extends ConfigPatch {
  /** Default: the active environment, whichever it is at the write. Changes of record lists have to name one. */
  readonly environment?: string
}

const shape =
  'A change must be { environment?, config?, recordLists?, revision? }: texts by key, lists as { field, create?, remove? }, a whole revision.'

/** A change as the host's code gave it, which no compiler may have checked. Throws `invalid_request`. */
export function checkedChange(given: ConfigChange): ConfigChange {
  if (!isChange(given)) throw new AuthError('invalid_request', { detail: shape })
  return given
}

function isChange(given: unknown): boolean {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return false
  const { environment, ...patch } = { environment: undefined, ...given }
  return (environment === undefined || isStorable(environment)) && isPatchShaped(patch, isStorable)
}
