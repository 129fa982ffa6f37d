import type { SurfaceOptions } from '../options.js'
import { routesUrlOf } from './surface-options.js'

/**
 * Whether browsers send a cookie of `cookiePath` to routes of the surface (RFC 6265 §5.1.4). A path that is below
 * theirs is the host's own choice of routes.
 */
export function isSentToRoutes(options: SurfaceOptions): boolean {
  const { cookiePath = '/' } = options
  const routes = `${new URL(`${routesUrlOf(options)}/v1/auth`).pathname}/`
  const path = cookiePath.endsWith('/') ? cookiePath : `${cookiePath}/`
  return routes.startsWith(path) || path.startsWith(routes)
}
