import type { SecretPlace } from '../../crypto/secret-box.js'
import type { TotpFactor } from '../../model/factors.js'
import type { Surface } from '../../ports/surface.js'
import type { SurfaceContext } from '../context/surface-context.js'

/** Where the secret of a user's authenticator app is; encrypted for it, it decrypts nowhere else. */
export function totpPlace(surface: Surface, userId: string): SecretPlace {
  return { module: 'totp', environment: surface, key: userId }
}

/** A secret under the first key, and the id of that key. */
export function sealTotp(
  { surface, secretBox }: Pick<SurfaceContext, 'surface' | 'secretBox'>,
  userId: string,
  secret: string,
): Pick<TotpFactor, 'sealedSecret' | 'keyId'> {
  const sealedSecret = secretBox.seal(secret, totpPlace(surface, userId))
  return { sealedSecret, keyId: secretBox.keyIds[0] }
}
