import type { SurfaceContext } from '../context/surface-context.js'
import { offeredMethods } from '../factors/offered-methods.js'

/** While passkeys are off: only to a user without another second factor. */
export async function arePasskeysOffered(
  deps: Pick<SurfaceContext, 'collections' | 'settings'>,
  userId: string,
): Promise<boolean> {
  if ((await deps.settings()).webauthnMode !== 'off') return true
  return (await offeredMethods(deps, userId)).includes('webauthn')
}
