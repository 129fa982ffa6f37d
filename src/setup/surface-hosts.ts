import { type RequestHost, readHost } from '../http/incoming-request.js'
import type { AuthOptions, SurfaceOptions } from '../options.js'
import type { Surface } from '../ports/surface.js'

const surfaces = ['operator', 'client'] as const

/** A host of a surface. */
interface OwnHost {
  readonly name: string
  /** How its port may be spelled; null for any port. */
  readonly ports: readonly string[] | null
}

/**
 * The surfaces that a host may be meant for: one, none for an unknown host, or both. Where both
 * surfaces have the same hosts, it is both for every host, known or not.
 */
export type SurfacesOf = (host: RequestHost | null) => readonly Surface[]

/** Reads the hosts of both surfaces from `baseUrl`, `routesUrl` and `hosts`. */
export function surfaceHosts(options: Pick<AuthOptions, 'surfaces'>): SurfacesOf {
  const own = {
    operator: hostsOf(options.surfaces.operator),
    client: hostsOf(options.surfaces.client),
  }
  if (spelled(own.operator) === spelled(own.client)) return () => surfaces
  return (host) => {
    if (host === null) return []
    const named = surfaces.filter((surface) => own[surface].some(({ name }) => name === host.name))
    // A port tells two surfaces of one name apart. It says nothing where the name alone does.
    if (named.length < 2) return named
    return named.filter((surface) =>
      own[surface].some(
        ({ name, ports }) => name === host.name && (ports === null || ports.includes(host.port)),
      ),
    )
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
