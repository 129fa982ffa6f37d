import { OptionsError } from '../errors/index.js'
import type { AuthOptions, SurfaceOptions } from '../options.js'
import type { Surface } from '../ports/surface.js'
import { isSentToRoutes } from './is-sent-to-routes.js'

interface Problem {
  /** Below the surface, such as `webauthn.rpId`. */
  readonly option: string
  readonly problem: string
}

/** Throws an `OptionsError` for options of a surface that are right each by itself, and cannot work together. */
export function refuseContradictions(surfaces: AuthOptions['surfaces']): void {
  for (const surface of ['operator', 'client'] as const) {
    const own = surfaces[surface]
    const [found] = [
      ...schemeProblems(own),
      ...cookieProblems(own),
      ...pathProblems(surface, own),
      ...passkeyProblems(own),
    ]
    if (found === undefined) continue
    throw new OptionsError(`surfaces.${surface}.${found.option}`, found.problem)
  }
}

/** The scheme of `baseUrl` decides whether cookies are `Secure`, and those of the routes are sent by theirs. */
function schemeProblems({ baseUrl, routesUrl = baseUrl }: SurfaceOptions): readonly Problem[] {
  const { protocol } = new URL(baseUrl)
  if (new URL(routesUrl).protocol === protocol) return []
  const problem = `must begin with ${protocol}//, as baseUrl does, whose scheme decides whether cookies are Secure: give both the same scheme`
  return [{ option: 'routesUrl', problem }]
}

/** Either host sets the cookie: pages and routes may be on two. */
function cookieProblems(own: SurfaceOptions): readonly Problem[] {
  const { baseUrl, routesUrl = baseUrl, cookieDomain, cookiePath = '/' } = own
  if (cookieDomain === undefined) {
    const problem = 'needs cookieDomain: a host-only cookie is a __Host- cookie, whose path is "/"'
    return cookiePath === '/' ? [] : [{ option: 'cookiePath', problem }]
  }
  if ([baseUrl, routesUrl].every((url) => isWithin(hostOf(url), cookieDomain))) return []
  const hosts = routesUrl === baseUrl ? 'the host of baseUrl' : 'the hosts of baseUrl and routesUrl'
  const problem = `must be a domain with ${hosts} in it; browsers drop the cookie otherwise`
  return [{ option: 'cookieDomain', problem }]
}

/** Without `routesUrl` the host may mount the routes anywhere, and the diagnosis tells of such a path. */
function pathProblems(surface: Surface, own: SurfaceOptions): readonly Problem[] {
  if (own.routesUrl === undefined || isSentToRoutes(surface, own)) return []
  const problem =
    'must be a path with the routes of routesUrl below it, such as "/"; browsers never send the cookie otherwise'
  return [{ option: 'cookiePath', problem }]
}

function passkeyProblems({ baseUrl, webauthn = {} }: SurfaceOptions): readonly Problem[] {
  const { rpId = hostOf(baseUrl), origins = [] } = webauthn
  if (!isWithin(hostOf(baseUrl), rpId)) {
    const problem =
      'must be the host of baseUrl or a parent domain of it; browsers refuse passkeys otherwise'
    return [{ option: 'webauthn.rpId', problem }]
  }
  return origins.flatMap((origin, index): readonly Problem[] => {
    if (origin.startsWith('android:') || isWithin(hostOf(origin), rpId)) return []
    const problem = `must be of the host ${rpId} or of one below it; set webauthn.rpId to a parent domain they share`
    return [{ option: `webauthn.origins.${index}`, problem }]
  })
}

function hostOf(url: string): string {
  return new URL(url).hostname
}

function isWithin(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`)
}
