import { isStorableId, longestId } from '../../engine/text.js'
import { AuthError } from '../../errors/index.js'

/**
 * An id that the host's code gave, as `name` of its docstring. Throws `invalid_request`, naming it: a store refuses
 * anything but text, which would look like its failure.
 */
export function storedText(name: string, given: unknown): string {
  if (isStorableId(given)) return given
  const detail = `${name} must be a text of at most ${longestId} characters, well-formed and without NUL.`
  throw new AuthError('invalid_request', { detail })
}
