import type { SurfaceContext } from '../context/surface-context.js'
import { offeredMethods } from '../factors/offered-methods.js'

/**
 * Whether the settings let this user show a passkey. While passkeys are off: only a user with a passkey
 * and no other second factor. It does not say whether there is a passkey, which the caller looks up.
 */
export async function mayShowPasskey(
  deps: Pick<SurfaceContext, 'collections' | 'settings'>,
  userId: string,
): Promise<boolean> {
  if ((await deps.settings()).webauthnMode !== 'off') return true
  return (await offeredMethods(deps, userId)).includes('webauthn')
}
