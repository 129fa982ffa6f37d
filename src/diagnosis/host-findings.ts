import type { AuthOptions } from '../options.js'
import type { Finding } from '../ports/inspection.js'
import { isSentToRoutes } from '../setup/is-sent-to-routes.js'
import { sharedCookieWarning } from '../setup/shared-cookie-warning.js'
import { hostNamesOf } from '../setup/surface-hosts.js'
import { linksOf, routesUrlOf } from '../setup/surface-options.js'
import { isLocal } from './is-local.js'

const check = 'hosts'

/**
 * Hosts, cookies and origins through which one surface reaches the other (OWASP ASVS 3.3.3 and 3.5.4), and cookies that
 * do not reach their own.
 */
export function hostFindings({ surfaces }: Pick<AuthOptions, 'surfaces'>): readonly Finding[] {
  return [
    ...cookieFindings(surfaces),
    ...pathFindings(surfaces),
    ...sharedHosts(surfaces),
    ...sharedPages(surfaces),
    ...originFindings(surfaces),
  ]
}

type Surfaces = AuthOptions['surfaces']

function cookieFindings(surfaces: Surfaces): readonly Finding[] {
  const [problem, remedy] =
    sharedCookieWarning(surfaces)
      ?.replace(/^createAuth: /, '')
      .split('; ') ?? []
  if (problem === undefined || remedy === undefined) return []
  return [{ check, problem: sentence(problem), remedy: sentence(remedy) }]
}

/** With `routesUrl`, `createAuth` refuses such a path: then it is known where the routes are. */
function pathFindings(surfaces: Surfaces): readonly Finding[] {
  return (['operator', 'client'] as const).flatMap((surface): readonly Finding[] => {
    const own = surfaces[surface]
    if (isSentToRoutes(surface, own)) return []
    const problem = `surfaces.${surface}.cookiePath is ${own.cookiePath}, and the routes are at ${routesUrlOf(own)}/v1/auth: browsers do not send them the cookie.`
    const remedy = `Set surfaces.${surface}.routesUrl to where the routes are, and cookiePath to a path above them.`
    return [{ check, problem, remedy }]
  })
}

function sharedHosts({ operator, client }: Surfaces): readonly Finding[] {
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
function sharedPages(surfaces: Surfaces): readonly Finding[] {
  const [operator, client] = [linksOf(surfaces.operator), linksOf(surfaces.client)]
  const shared = (['verifyEmail', 'resetPassword'] as const).filter(
    (page) => operator[page] === client[page] && !isLocal(new URL(client[page]).hostname),
  )
  return shared.map((page) => ({
    check,
    problem: `Mails of both surfaces link to ${client[page]}, which cannot tell to which surface a token belongs.`,
    remedy: `Give one surface a page of its own: surfaces.operator.pages.${page}.`,
  }))
}

function originFindings(surfaces: Surfaces): readonly Finding[] {
  const others = { operator: surfaces.client, client: surfaces.operator } as const
  return (['operator', 'client'] as const).flatMap((surface) => {
    const { baseUrl, allowedOrigins = [] } = surfaces[surface]
    const own = new URL(baseUrl)
    const foreign = new Set(hostNamesOf(others[surface]))
    const option = `surfaces.${surface}.allowedOrigins`
    return allowedOrigins.flatMap((origin): Finding[] => {
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
