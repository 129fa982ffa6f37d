import type { RelyingParty } from '../crypto/webauthn.js'
import type { Links } from '../domain/surface/surface-context.js'
import { withoutEnding } from '../engine/text.js'
import type { CookiePolicy } from '../http/cookies.js'
import type { Mountable } from '../http/http-message.js'
import { type RequestHost, readHost } from '../http/incoming-request.js'
import {
  type ServerMetadata,
  type SurfacesOfRequest,
  serverMetadata,
} from '../http/surface-router.js'
import type { GivenOptions, GivenSurfaces, SurfaceOptions } from '../options.js'
import type { Logger } from '../ports/host.js'
import type { Surface } from '../ports/surface.js'

// What the options of the surfaces come to: addresses, cookies, origins and hosts.

/** The surfaces that the host has, with their options. */
export function givenSurfaces(
  surfaces: GivenSurfaces,
): readonly (readonly [Surface, SurfaceOptions])[] {
  return (['operator', 'client'] as const).flatMap((surface) => {
    const own = surfaces[surface]
    return own === undefined ? [] : [[surface, own] as const]
  })
}

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
    namePrefix: options.cookieNamePrefix ?? '',
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
    const { hostname, protocol } = new URL(origin)
    // `capacitor://localhost` is an app on a phone, and belongs to no domain.
    if (!['https:', 'http:'].includes(protocol)) return false
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

/** Reads the host of a request, as `auth.both` and `sessionOf` tell the surfaces apart by it. */
export function surfacesOfRequest(surfaces: GivenSurfaces): SurfacesOfRequest {
  const surfacesOf = surfaceHosts(surfaces)
  return ({ host, forwardedHost: forwarded }) => {
    const found = surfacesOf(readHost(host))
    if (found.length === 1) return { found, host }
    // Second, because a proxy may pass on what a client put there.
    const ofForwarded = forwarded === undefined ? [] : surfacesOf(readHost(forwarded))
    return { found: ofForwarded.length > 0 ? ofForwarded : found, host: forwarded ?? host }
  }
}

/** A host of a surface. */
interface OwnHost {
  readonly name: string
  /** How its port may be spelled; null for any port. */
  readonly ports: readonly string[] | null
}

/**
 * The surfaces that a host may be meant for: one, none for an unknown host, or both. Where both
 * surfaces have the same hosts, it is both for every host, known or not. A surface alone has every host.
 */
type SurfacesOf = (host: RequestHost | null) => readonly Surface[]

/** Reads the hosts of the surfaces from `baseUrl`, `routesUrl` and `hosts`. */
function surfaceHosts(given: GivenSurfaces): SurfacesOf {
  const surfaces = givenSurfaces(given).map(([surface, own]) => ({ surface, own: hostsOf(own) }))
  const all = surfaces.map(({ surface }) => surface)
  if (new Set(surfaces.map(({ own }) => spelled(own))).size < 2) return () => all
  return (host) => {
    if (host === null) return []
    const named = surfaces.filter(({ own }) => own.some(({ name }) => name === host.name))
    // A port tells two surfaces of one name apart. It says nothing where the name alone does.
    const meant =
      named.length < 2
        ? named
        : named.filter(({ own }) =>
            own.some(
              ({ name, ports }) =>
                name === host.name && (ports === null || ports.includes(host.port)),
            ),
          )
    return meant.map(({ surface }) => surface)
  }
}

/** The names of a surface's hosts, without ports. */
export function hostNamesOf(options: SurfaceOptions): readonly string[] {
  return hostsOf(options).map(({ name }) => name)
}

function hostsOf({ baseUrl, routesUrl = baseUrl, hosts = [] }: SurfaceOptions): readonly OwnHost[] {
  const listed = hosts.flatMap((text) => {
    const host = readHost(text)
    return host === null ? [] : [{ name: host.name, ports: host.port === '' ? null : [host.port] }]
  })
  return [...[baseUrl, routesUrl].map(ofUrl), ...listed]
}

/** A URL leaves its scheme's port out, and so do most clients. */
function ofUrl(text: string): OwnHost {
  const { hostname, port, protocol } = new URL(text)
  const name = hostname.replace(/\.$/, '')
  return { name, ports: port === '' ? ['', protocol === 'https:' ? '443' : '80'] : [port] }
}

function spelled(hosts: readonly OwnHost[]): string {
  const texts = hosts.map(({ name, ports }) => `${name}:${ports?.join('|') ?? '*'}`)
  return [...new Set(texts)].sort().join(' ')
}

/** What access tokens name as `iss`, the keys that sign them, and where service accounts get theirs. */
export function metadataOf(options: GivenOptions, issuer: string, logger: Logger): Mountable {
  return serverMetadata(knownOf(options, issuer), () =>
    logger.warn(
      'no authorization server metadata is served: the option "issuer" must be an https URL without a query, on a host of the operator surface, or of the client surface where that is the only one',
    ),
  )
}

/** A client compares the issuer with the URL it asked, so it must be a URL that leads here (RFC 8414 §3.3). */
function knownOf({ surfaces }: GivenOptions, issuer: string): ServerMetadata | null {
  const { operator, client } = surfaces
  const options = operator ?? client
  if (options === undefined || !URL.canParse(issuer)) return null
  const url = new URL(issuer)
  if (url.protocol !== 'https:' || /[?#]/.test(issuer) || url.username + url.password) return null
  if (!hostNamesOf(options).includes(url.hostname.replace(/\.$/, ''))) return null
  const routes = routesUrlOf(options)
  return {
    issuer,
    tokenEndpoint: operator === undefined ? null : `${routes}/v1/auth/oauth2/token`,
    jwksUri: `${routes}/v1/auth/${operator === undefined ? 'client' : 'operator'}/jwks`,
  }
}
