import type { SurfaceOptions } from '../options.js'
import type { Surface } from '../ports/surface.js'
import { hostNamesOf } from './surface-hosts.js'

const surfaces = ['operator', 'client'] as const
const other = { operator: 'client', client: 'operator' } as const

/**
 * What to tell the host when a surface's `cookieDomain` covers a host of the other surface alone:
 * browsers send the refresh cookie there too, where another program may read it (OWASP ASVS 3.3.3).
 * Null when each surface keeps its cookies.
 */
export function sharedCookieWarning(
  options: Readonly<Record<Surface, SurfaceOptions>>,
): string | null {
  const wide = surfaces.filter((surface) => reachesOther(options[surface], options[other[surface]]))
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
  return hostNamesOf(others).some(
    (name) => !shared.has(name) && (name === cookieDomain || name.endsWith(`.${cookieDomain}`)),
  )
}
