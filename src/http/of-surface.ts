import type { Principal } from '../domain/services/index.js'
import { AuthError } from '../errors/index.js'
import type { Surface } from '../ports/surface.js'

/** The principal as one of this surface; throws `audience_mismatch` for one of the other. */
export function ofSurface<S extends Surface>(surface: S, principal: Principal): Principal<S> {
  if (isOf(surface, principal)) return principal
  throw new AuthError('audience_mismatch')
}

function isOf<S extends Surface>(surface: S, principal: Principal): principal is Principal<S> {
  return principal.surface === surface
}
