import type { SurfaceContext } from '../domain/surface/surface-context.js'
import { loadPart } from '../errors/index.js'
import type { AnySessionOf, SessionOf } from '../http/session-facts.js'
import type { AuthOptions } from '../options.js'
import type { Surface } from '../ports/surface.js'
import type { Defaults } from './defaults.js'
import type { SharedServices } from './shared-services.js'
import { cookiePolicyOf, originsOf } from './surface-options.js'
import { surfacesOfRequest } from './surfaces-of-request.js'

/** The reading of sessions for the host's own pages. Most hosts have none, so that it is loaded at its first use. */
export function pagesOf<S extends Surface>(
  surface: S,
  ctx: SurfaceContext,
  options: AuthOptions,
  { proxies, inRequest }: Pick<SharedServices, 'proxies'> & Pick<Defaults, 'inRequest'>,
): SessionOf<S> {
  const own = options.surfaces[surface]
  const surfacesOf = surfacesOfRequest(options)
  let ready: AnySessionOf<S> | null = null

  const answer: AnySessionOf<S> = async (request, given) => {
    if (ready !== null) return ready(request, given)
    const { sessionOf } = await loadPart('sessionOf', () => import('../http/session-of.js'))
    ready ??= sessionOf(surface, {
      ctx,
      proxies,
      inRequest,
      cookies: cookiePolicyOf(surface, own),
      allowedOrigins: originsOf(own),
      // Hosts that are in no option are the host's to route, as where the surface is mounted alone.
      isElsewhere(head) {
        const { found } = surfacesOf(head)
        return found.length > 0 && !found.includes(surface)
      },
    })
    return ready(request, given)
  }
  // The overloads say which members come with which use.
  return answer as SessionOf<S>
}
