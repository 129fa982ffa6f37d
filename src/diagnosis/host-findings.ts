import { isAppOrigin } from '../engine/addresses.js'
import type { GivenOptions, GivenSurfaces, SurfaceOptions } from '../options.js'
import type { Finding } from '../ports/inspection.js'
import { isSentToRoutes, sharedCookieWarning } from '../setup/surface-checks.js'
import { givenSurfaces, hostNamesOf, linksOf, routesUrlOf } from '../setup/surfaces.js'

const check = 'hosts'

/**
 * Hosts, cookies and origins through which one surface reaches the other (OWASP ASVS 3.3.3 and 3.5.4), and cookies that
 * do not reach their own.
 */
export function hostFindings({ surfaces }: Pick<GivenOptions, 'surfaces'>): readonly Finding[] {
  const { operator, client } = surfaces
  return [
    ...cookieFindings(surfaces),
    ...pathFindings(surfaces),
    ...(operator === undefined || client === undefined
      ? []
      : [...sharedHosts(operator, client), ...sharedPages(operator, client)]),
    ...originFindings(surfaces),
  ]
}

function cookieFindings(surfaces: GivenSurfaces): readonly Finding[] {
  const [problem, remedy] =
    sharedCookieWarning(surfaces)
      ?.replace(/^createAuth: /, '')
      .split('; ') ?? []
  if (problem === undefined || remedy === undefined) return []
  return [{ check, problem: sentence(problem), remedy: sentence(remedy) }]
}

/** With `routesUrl`, `createAuth` refuses such a path: then it is known where the routes are. */
function pathFindings(surfaces: GivenSurfaces): readonly Finding[] {
  return givenSurfaces(surfaces).flatMap(([surface, own]): readonly Finding[] => {
    if (isSentToRoutes(surface, own)) return []
    const problem = `surfaces.${surface}.cookiePath is ${own.cookiePath}, and the routes are at ${routesUrlOf(own)}/v1/auth: browsers do not send them the cookie.`
    const remedy = `Set surfaces.${surface}.routesUrl to where the routes are, and cookiePath to a path above them.`
    return [{ check, problem, remedy }]
  })
}

function sharedHosts(operator: SurfaceOptions, client: SurfaceOptions): readonly Finding[] {
  const others = new Set(hostNamesOf(client))
  const shared = [...new Set(hostNamesOf(operator))].filter(
    (name) => others.has(name) && !isLocal(name),
  )
  return shared.map((name) => ({
    check,
    problem: `Both surfaces are on the host ${name}. A script that gets into a page for clients then acts with the session of an operator who opens it.`,
    remedy: 'Give each surface a host name of its own.',
  }))
}

/** Pages that a mailed token leads to, and that cannot tell by which surface's route it is good. */
function sharedPages(operator: SurfaceOptions, client: SurfaceOptions): readonly Finding[] {
  const [one, other] = [linksOf(operator), linksOf(client)]
  const shared = (['verifyEmail', 'resetPassword'] as const).filter(
    (page) => one[page] === other[page] && !isLocal(new URL(other[page]).hostname),
  )
  return shared.map((page) => ({
    check,
    problem: `Mails of both surfaces link to ${other[page]}, which cannot tell to which surface a token belongs.`,
    remedy: `Give one surface a page of its own: surfaces.operator.pages.${page}.`,
  }))
}

function originFindings(surfaces: GivenSurfaces): readonly Finding[] {
  return givenSurfaces(surfaces).flatMap(([surface, { baseUrl, allowedOrigins = [] }]) => {
    const own = new URL(baseUrl)
    const other = surfaces[surface === 'operator' ? 'client' : 'operator']
    const foreign = new Set(other === undefined ? [] : hostNamesOf(other))
    const option = `surfaces.${surface}.allowedOrigins`
    return allowedOrigins.flatMap((origin): Finding[] => {
      if (isAppOrigin(origin)) return []
      const { protocol, hostname } = new URL(origin)
      if (isLocal(hostname) && !isLocal(own.hostname)) {
        const problem = `${option} has ${origin}: whatever listens on that port of a user's machine may use the session.`
        return [{ check, problem, remedy: 'Leave origins of development out where users are.' }]
      }
      if (protocol === 'http:' && own.protocol === 'https:') {
        const problem = `${option} has ${origin}: whoever is on the way changes that page, which may use the session.`
        return [{ check, problem, remedy: 'Serve the page by https, and name that origin.' }]
      }
      if (hostname === own.hostname || !foreign.has(hostname)) return []
      const problem = `${option} has ${origin}, a host of the other surface: its pages may use the sessions of this one.`
      return [{ check, problem, remedy: `Leave it out of ${option}.` }]
    })
  })
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

/** More proxies than stand in front of a host: a CDN, a load balancer, an ingress, a sidecar, and one to spare. */
const mostHops = 5
/** A network of this many bits has sixteen million addresses; 10.0.0.0/8 is one. */
const fewestBits = { 4: 8, 6: 32 }

type Given = Pick<GivenOptions, 'trustProxy' | 'surfaces'>

/** Whose `X-Forwarded-For` counts: too few make all callers one, and too many let a caller choose its address. */
export function proxyFindings({ trustProxy = false, surfaces }: Given): readonly Finding[] {
  const check = 'proxy'
  if (trustProxy === false || trustProxy === 0) {
    const urls = givenSurfaces(surfaces).map(([, { baseUrl }]) => new URL(baseUrl))
    if (!urls.some((url) => url.protocol === 'https:' && !isLocal(url.hostname))) return []
    return [
      {
        check,
        problem:
          'trustProxy is false, and the surfaces are reached by https. Where a proxy ends TLS, every request has the address of the proxy: all callers share the limits of one.',
        remedy:
          'Set trustProxy to the number of your proxies, or to their networks. Where this process ends TLS itself, accept the finding.',
      },
    ]
  }
  if (typeof trustProxy === 'number') {
    if (trustProxy <= mostHops) return []
    const problem = `trustProxy believes ${trustProxy} proxies. With more than there are, a caller chooses its own address by X-Forwarded-For.`
    return [{ check, problem, remedy: 'Set trustProxy to the number of proxies that there are.' }]
  }
  return trustProxy.filter(isWide).map((network) => ({
    check,
    problem: `trustProxy believes the whole network ${network}: each machine in it chooses the address that it is taken for.`,
    remedy: 'Name the networks of your proxies alone, such as 10.0.3.0/24.',
  }))
}

function isWide(network: string): boolean {
  const [address = '', prefix] = network.split('/')
  const fewest = address.includes(':') ? fewestBits[6] : fewestBits[4]
  return prefix !== undefined && Number(prefix) < fewest
}

/** Whether a host name means the machine itself, as in development. */
function isLocal(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    hostname.startsWith('127.')
  )
}
