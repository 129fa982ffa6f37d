import type { SurfaceOptions } from '../options.js'
import type { Surface } from '../ports/surface.js'
import { routesUrlOf } from './surface-options.js'

/**
 * Whether browsers send a cookie of `cookiePath` to the routes below `/v1/auth` of the surface (RFC 6265 §5.1.4). The
 * routes of both surfaces, such as `/v1/auth/session`, need a path above them.
 */
export function isSentToRoutes(surface: Surface, options: SurfaceOptions): boolean {
  const { cookiePath = '/' } = options
  const routes = `${new URL(`${routesUrlOf(options)}/v1/auth/${surface}`).pathname}/`
  return routes.startsWith(cookiePath.endsWith('/') ? cookiePath : `${cookiePath}/`)
}
