import { type ConfigPatch, isPatchShaped } from '../../engine/configuration/config-patch.js'
import { isStorable } from '../../engine/text.js'
import { AuthError } from '../../errors/index.js'

/** An edit of the host's code. */
export interface ConfigChange extends ConfigPatch {
  /**
   * Default: the environment that is active when the change begins, and after a lost race the one that is active then.
   * Changes of record lists have to name one.
   */
  readonly environment?: string
}

const shape =
  'A change must be { environment?, config?, recordLists?, revision? }: texts by key, lists as { field, create?, remove? }, a whole revision. No member of the change itself may be there and undefined.'

/** A change as the host's code gave it, which no compiler may have checked. Throws `invalid_request`. */
export function checkedChange(given: ConfigChange): ConfigChange {
  if (!isChange(given)) throw new AuthError('invalid_request', { detail: shape })
  return given
}

function isChange(given: unknown): boolean {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return false
  // What was to name an environment or a revision is missing: the edit would go elsewhere, or over another one.
  if (Object.values(given).includes(undefined)) return false
  const { environment, ...patch } = { environment: undefined, ...given }
  return (environment === undefined || isStorable(environment)) && isPatchShaped(patch, isStorable)
}
