import type { RelyingParty } from '../crypto/webauthn.js'
import type { Links } from '../domain/surface/surface-context.js'
import { withoutEnding } from '../engine/text.js'
import type { CookiePolicy } from '../http/cookies.js'
import type { EndpointOverrides } from '../identity-providers/provider-clients.js'
import type { AuthOptions, SurfaceOptions } from '../options.js'
import type { Surface } from '../ports/surface.js'

/** The host's own pages a mail may link to. */
export function linksOf({ baseUrl, pages = {} }: SurfaceOptions): Links {
  const root = baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`
  const at = (page: string): string => new URL(page.replace(/^\//, ''), root).href
  return {
    verifyEmail: at(pages.verifyEmail ?? '/verify-email'),
    resetPassword: at(pages.resetPassword ?? '/reset-password'),
    login: at(pages.login ?? '/login'),
  }
}

export function cookiePolicyOf(surface: Surface, options: SurfaceOptions): CookiePolicy {
  return {
    surface,
    secure: new URL(options.baseUrl).protocol === 'https:',
    domain: options.cookieDomain ?? null,
    path: options.cookiePath ?? '/',
    otherDomains: domainsAbove(options).filter((domain) => domain !== options.cookieDomain),
  }
}

/** The surface's hosts and every domain they are in, but for top-level ones. */
function domainsAbove({ baseUrl, routesUrl = baseUrl }: SurfaceOptions): readonly string[] {
  const hosts = [baseUrl, routesUrl].map((url) => new URL(url).hostname)
  const domains = hosts.flatMap((host) => {
    const labels = /^[\d.]+$|:/.test(host) ? [] : host.split('.')
    return labels.slice(0, -1).map((_, at) => labels.slice(at).join('.'))
  })
  return [...new Set(domains)]
}

/** The surface's own origin is always one of them. */
export function originsOf({ baseUrl, allowedOrigins = [] }: SurfaceOptions): ReadonlySet<string> {
  return new Set([new URL(baseUrl).origin, ...allowedOrigins])
}

/** Where passkeys of the surface may be used: its own origins, as far as they belong to its domain. */
export function relyingPartyOf(options: SurfaceOptions): RelyingParty {
  const { rpId = new URL(options.baseUrl).hostname, origins = [] } = options.webauthn ?? {}
  const pages = [...originsOf(options)].filter((origin) => {
    const { hostname } = new URL(origin)
    return hostname === rpId || hostname.endsWith(`.${rpId}`)
  })
  return { rpId, origins: [...new Set([...pages, ...origins])] }
}

/** Names of the deployment that no password may contain (ASVS 6.1.2). */
export function contextWordsOf(
  issuer: string,
  options: readonly SurfaceOptions[],
): readonly string[] {
  const hosts = options.map(({ baseUrl }) => new URL(baseUrl).hostname)
  const labels = hosts.flatMap((host) => host.split('.').slice(0, -1))
  return [...new Set([...labels, ...issuer.split(/[^A-Za-z0-9]+/)])]
}

/** Where browsers reach the routes, without a slash at the end. */
export function routesUrlOf({ baseUrl, routesUrl = baseUrl }: SurfaceOptions): string {
  return withoutEnding(routesUrl, '/')
}

/** The endpoints a host gave in place of the providers' own. */
export function endpointsOf({ oauth }: Pick<AuthOptions, 'oauth'>): EndpointOverrides {
  const given = Object.entries(oauth?.providers ?? {})
  return Object.fromEntries(given.map(([id, provider]) => [id, provider?.endpoints ?? {}]))
}
