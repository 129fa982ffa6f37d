import { resetLinkMs } from '../engine/duration.js'
import { OptionsError } from '../errors/index.js'
import type { GivenSurfaces, SurfaceOptions } from '../options.js'
import type { Surface } from '../ports/surface.js'
import { givenSurfaces, hostNamesOf, routesUrlOf } from './surfaces.js'

// What options of the surfaces come to that are right each by itself: some cannot work together, and some let in more
// than they seem to.

interface Problem {
  /** Below the surface, such as `webauthn.rpId`. */
  readonly option: string
  readonly problem: string
}

/** Throws an `OptionsError` for options of a surface that cannot work together. */
export function refuseContradictions(surfaces: GivenSurfaces): void {
  for (const [surface, own] of givenSurfaces(surfaces)) {
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

/**
 * Whether browsers send a cookie of `cookiePath` to the routes below `/v1/auth` of the surface (RFC 6265 §5.1.4). The
 * routes of both surfaces, such as `/v1/auth/session`, need a path above them.
 */
export function isSentToRoutes(surface: Surface, options: SurfaceOptions): boolean {
  const { cookiePath = '/' } = options
  const routes = `${new URL(`${routesUrlOf(options)}/v1/auth/${surface}`).pathname}/`
  return routes.startsWith(cookiePath.endsWith('/') ? cookiePath : `${cookiePath}/`)
}

/** What the log says at the start of options that work, and that let in more than they seem to. */
export function surfaceWarnings(surfaces: GivenSurfaces): readonly string[] {
  const cookies = sharedCookieWarning(surfaces)
  return [...(cookies === null ? [] : [cookies]), ...mailWindowWarnings(surfaces)]
}

/**
 * What to tell the host when a surface's `cookieDomain` covers a host of the other surface alone:
 * browsers send the refresh cookie there too, where another program may read it (OWASP ASVS 3.3.3).
 * Null when each surface keeps its cookies.
 */
export function sharedCookieWarning({ operator, client }: GivenSurfaces): string | null {
  if (operator === undefined || client === undefined) return null
  const wide = [
    ...(reachesOther(operator, client) ? ['operator'] : []),
    ...(reachesOther(client, operator) ? ['client'] : []),
  ]
  if (wide.length === 0) return null
  const named = wide.map((surface) => `surfaces.${surface}.cookieDomain`).join(' and ')
  const [option, verb, them] =
    wide.length === 1 ? ['option', 'covers', 'it'] : ['options', 'cover', 'them']
  return (
    `createAuth: ${option} ${named} ${verb} hosts of the other surface, so browsers send the refresh ` +
    `cookies of one surface to the other; leave ${them} out, or name a domain that the other surface ` +
    'has no host in'
  )
}

function reachesOther({ cookieDomain, ...own }: SurfaceOptions, others: SurfaceOptions): boolean {
  if (cookieDomain === undefined) return false
  // A cookie knows no port: on a host of both, it reaches both whatever its domain is.
  const shared = new Set(hostNamesOf(own))
  return hostNamesOf(others).some((name) => !shared.has(name) && isWithin(name, cookieDomain))
}

/**
 * What the log says of a window of mails that is longer than the life of a reset link: a stranger who
 * uses up the mails of an address leaves its owner without a link until the window ends.
 */
function mailWindowWarnings(surfaces: GivenSurfaces): readonly string[] {
  return givenSurfaces(surfaces).flatMap(([surface, { rateLimits }]) => {
    const windowMs = rateLimits?.recoveryPerAddress?.windowMs ?? 0
    if (windowMs <= resetLinkMs) return []
    return `surfaces.${surface}.rateLimits.recoveryPerAddress.windowMs is ${windowMs} milliseconds, longer than the hour that a reset link lives: a stranger who uses up the mails of an address leaves its owner without a link for the rest. Make it at most ${resetLinkMs}, with a lower limit where fewer mails are wanted.`
  })
}
