import type { BrowserKey, BrowserKeys } from '../domain/intents/oauth-flows.js'
import { withoutEnding } from '../engine/text.js'
import type { TokenCookie } from '../operations/operation.js'
import type { Surface } from '../ports/surface.js'
import type { RouteGuardRequest } from './http-message.js'

export interface CookiePolicy {
  readonly surface: Surface
  /** Whether the surface's `baseUrl` is https. The request never decides this. */
  readonly secure: boolean
  /** Null for a host-only cookie. */
  readonly domain: string | null
  /** Other domains for which an earlier deployment may have set its cookies. */
  readonly otherDomains?: readonly string[]
  readonly path: string
}

export type SameSite = 'strict' | 'lax' | 'none'

const shortName = { operator: 'op', client: 'cl' } as const

/** A cookie of one OAuth flow: its kind, and the flow's name. */
export type FlowCookieName = `${'oauth' | 'oauth_form'}_${string}`

type CookieKind = Exclude<TokenCookie, 'oauth' | 'oauth_form'> | FlowCookieName

/**
 * `__Host-` needs a secure, host-only cookie with path `/`; `__Secure-` only a secure one
 * (RFC 6265bis §4.1.3). Plain names are for local development over http.
 */
export function cookieName(policy: CookiePolicy, what: CookieKind): string {
  const name = `${shortName[policy.surface]}_${what}`
  if (!policy.secure) return name
  return policy.domain === null ? `__Host-${name}` : `__Secure-${name}`
}

/** The same for what one host keeps for itself, whatever domain sessions are shared in. */
export function hostOnly(policy: CookiePolicy): CookiePolicy {
  return { ...policy, domain: null, path: '/' }
}

/** `maxAge` in whole seconds. */
export function setCookie(
  policy: CookiePolicy,
  what: CookieKind,
  sameSite: SameSite,
  { value, maxAge }: { readonly value: string; readonly maxAge: number },
): string {
  return line(cookieName(policy, what), policy, sameSite, { value, maxAge })
}

function line(
  name: string,
  policy: CookiePolicy,
  sameSite: SameSite,
  { value, maxAge }: { readonly value: string; readonly maxAge: number },
): string {
  const attributes = [
    `${name}=${value}`,
    `Max-Age=${maxAge}`,
    `Path=${policy.path}`,
    'HttpOnly',
    `SameSite=${sameSiteOf(policy, sameSite)}`,
  ]
  if (policy.domain !== null) attributes.push(`Domain=${policy.domain}`)
  if (policy.secure) attributes.push('Secure')
  return attributes.join('; ')
}

/** Must repeat domain and path, or browsers keep the cookie. */
export function clearCookie(policy: CookiePolicy, what: CookieKind, sameSite: SameSite): string {
  return setCookie(policy, what, sameSite, { value: '', maxAge: 0 })
}

/**
 * Takes away the cookies of this name that were set for other domains or paths: a browser tells them
 * apart, and a server cannot. A `__Host-` cookie is the only one of its name.
 */
export function clearOthers(
  policy: CookiePolicy,
  what: CookieKind,
  sameSite: SameSite,
): readonly string[] {
  const name = cookieName(policy, what)
  if (name.startsWith('__Host-')) return []
  const own = clearCookie(policy, what, sameSite)
  const domains = [policy.domain, null, ...(policy.otherDomains ?? [])]
  const lines = domains.flatMap((domain) =>
    [policy.path, '/'].map((path) =>
      line(name, { ...policy, domain, path }, sameSite, { value: '', maxAge: 0 }),
    ),
  )
  return [...new Set(lines)].filter((one) => one !== own)
}

/** Browsers drop `SameSite=None` without `Secure`; on a development host `Lax` takes its place. */
function sameSiteOf(policy: CookiePolicy, sameSite: SameSite): string {
  if (sameSite === 'none') return policy.secure ? 'None' : 'Lax'
  return sameSite === 'strict' ? 'Strict' : 'Lax'
}

/** The token in this cookie of the surface; null as `readCookie`. */
export function cookieOf(
  request: Pick<RouteGuardRequest, 'header'>,
  policy: CookiePolicy,
  what: CookieKind,
): string | null {
  return readCookie(request.header('cookie'), cookieName(policy, what))
}

/**
 * The cookie of this name; null when there is none, or when there are several: then one of them was
 * planted, by a page of another subdomain perhaps, and which one cannot be told.
 */
export function readCookie(header: string | undefined, name: string): string | null {
  const values = cookieValues(header, name)
  return values.length === 1 && values[0] ? values[0] : null
}

/** Every cookie of this name, in the order in which the browser sent them; also empty ones. */
export function cookieValues(header: string | undefined, name: string): readonly string[] {
  return cookiesIn(header).flatMap(([found, value]) => (found === name ? [value] : []))
}

/** All cookies of this name that the request brings. */
export function cookiesOf(
  request: Pick<RouteGuardRequest, 'header'>,
  policy: CookiePolicy,
  what: CookieKind,
): readonly string[] {
  return cookieValues(request.header('cookie'), cookieName(policy, what))
}

/** What is kept of OAuth flows, the oldest first (RFC 6265 §5.4); nothing that is there twice. */
export function flowKeysIn(
  request: Pick<RouteGuardRequest, 'header'>,
  policy: CookiePolicy,
): BrowserKeys {
  const start = cookieName(policy, 'oauth_')
  const found = new Map<string, BrowserKey | null>()
  for (const [name, key] of cookiesIn(request.header('cookie'))) {
    const [, form, flow] = /^(form_)?([\w-]{16})$/.exec(name.slice(start.length)) ?? []
    if (!name.startsWith(start) || flow === undefined) continue
    const mode = form === undefined ? 'query' : 'form_post'
    found.set(name, found.has(name) || key === '' ? null : { mode, flow, key })
  }
  return [...found.values()].filter((one) => one !== null)
}

function cookiesIn(header: string | undefined): readonly (readonly [string, string])[] {
  return (header?.split(';') ?? []).flatMap((pair) => {
    const equals = pair.indexOf('=')
    return equals > 0
      ? [[withoutBlanks(pair.slice(0, equals)), withoutBlanks(pair.slice(equals + 1))] as const]
      : []
  })
}

/** Space and tab only: what else `trim` takes off would make one name of two (RFC 6265 §5.2). */
function withoutBlanks(text: string): string {
  return withoutEnding(text.replace(/^[ \t]+/, ''), ' \t')
}
