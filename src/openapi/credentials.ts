import type { Operation, TokenCookie } from '../operations/operation.js'
import type { CookieNaming, OpenApiOperation } from './types.js'

type Surface = Operation['surfaces'][number]
type Security = OpenApiOperation['security']

/** The security scheme of service accounts at the token endpoint. */
const clientBasic = 'clientSecretBasic'

const shortName = { operator: 'op', client: 'cl' } as const

export function cookieNameOf(
  { cookiePrefix, cookieNamePrefix = '' }: CookieNaming,
  surface: Surface,
  what: TokenCookie,
): string {
  const isOfFlow = what === 'oauth' || what === 'oauth_form'
  // What a browser began here is shared with no other host, whatever sessions are.
  const isHostOnly = isOfFlow || ['registration', 'recognition', 'sign_in'].includes(what)
  const start = cookiePrefix !== '' && isHostOnly ? '__Host-' : cookiePrefix
  return `${start}${cookieNamePrefix}${shortName[surface]}_${what}${isOfFlow ? '_{flow}' : ''}`
}

/** What is common to all names of a surface's cookies. */
export function cookieStems(
  { cookieNamePrefix = '' }: CookieNaming,
  surfaces: readonly Surface[],
): readonly string[] {
  return surfaces.map((surface) => `${cookieNamePrefix}${shortName[surface]}`)
}

/** The pattern of a `Set-Cookie` line, whatever the scheme and the domain put before its name. */
export function setCookiePattern(
  stems: readonly string[],
  cookies: readonly TokenCookie[],
): string {
  const kinds = cookies.map((what) => {
    if (what === 'oauth' || what === 'oauth_form') return `${what}_[\\w-]{16}`
    // A marker that scripts can read goes with it.
    return what === 'refresh' ? 'refresh|signed_in' : what
  })
  return `^(__Host-|__Secure-)?(${stems.join('|')})_(${kinds.join('|')})=`
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
  naming: CookieNaming,
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
        name: cookieNameOf(naming, surface, 'refresh'),
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
