import { isStorable } from './is-storable.js'

/** A tenant's id is the host's: any text of 1 to 64 characters that a store can hold. */
export function isTenantId(id: unknown): id is string {
  return isStorable(id) && /^.{1,64}$/su.test(id)
}
