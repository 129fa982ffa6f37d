import type { Operation, TokenCookie } from '../operations/operation.js'
import type { CookiePrefix, OpenApiOperation } from './types.js'

type Surface = Operation['surfaces'][number]
type Security = OpenApiOperation['security']

/** The security scheme of service accounts at the token endpoint. */
const clientBasic = 'clientSecretBasic'

const shortName = { operator: 'op', client: 'cl' } as const

export function cookieNameOf(prefix: CookiePrefix, surface: Surface, what: TokenCookie): string {
  const isOfFlow = what === 'oauth' || what === 'oauth_form'
  // What a browser began here is shared with no other host, whatever sessions are.
  const isHostOnly = isOfFlow || ['registration', 'recognition'].includes(what)
  const start = prefix !== '' && isHostOnly ? '__Host-' : prefix
  return `${start}${shortName[surface]}_${what}${isOfFlow ? '_{flow}' : ''}`
}

/** The pattern of a `Set-Cookie` line with any prefix. */
export function setCookiePattern(
  surfaces: readonly Surface[],
  cookies: readonly TokenCookie[],
): string {
  const names = surfaces.map((surface) => shortName[surface])
  const kinds = cookies.map((what) =>
    what === 'oauth' || what === 'oauth_form' ? `${what}_[\\w-]{16}` : what,
  )
  return `^(__Host-|__Secure-)?(${names.join('|')})_(${kinds.join('|')})=`
}

/** The alternatives to authenticate with, for each of the surfaces. Any one suffices. */
export function securityOf(operation: Operation, surfaces: readonly Surface[]): Security {
  const bearer = surfaces.map((surface) => ({ [`${surface}Bearer`]: [] }))
  if (operation.access === 'guarded' || operation.access === 'admin') return bearer
  // The body carries the ticket of a login that lacks a factor.
  if (operation.access === 'enrolling') return [...bearer, {}]
  // By the header or by the form (RFC 6749 §2.3.1).
  if (operation.oauth2) return [{ [clientBasic]: [] }, {}]
  if (!operation.usesRefreshCookie) return []
  const cookie = surfaces.map((surface) => ({ [`${surface}RefreshCookie`]: [] }))
  return operation.bearer === 'credential' ? [...bearer, ...cookie, {}] : cookie
}

export function securitySchemesOf(
  surfaces: readonly Surface[],
  prefix: CookiePrefix,
): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const schemes = surfaces.flatMap((surface) => [
    [
      `${surface}Bearer`,
      {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'JWT',
        description:
          surface === 'operator'
            ? 'An access token of an operator, or, where the operation lets them in, of a service account.'
            : 'An access token of a client.',
      },
    ],
    [
      `${surface}RefreshCookie`,
      {
        type: 'apiKey',
        in: 'cookie',
        name: cookieNameOf(prefix, surface, 'refresh'),
        description: 'The refresh token, as a login sets it.',
      },
    ],
  ])
  return Object.fromEntries(surfaces.includes('operator') ? [...schemes, basicScheme] : schemes)
}

const basicScheme = [
  clientBasic,
  {
    type: 'http',
    scheme: 'basic',
    description:
      'The client id and secret of a service account, each encoded as a form before (RFC 6749 §2.3.1). Or both are sent in the form.',
  },
]
