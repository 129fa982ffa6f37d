import type { BrowserKey, BrowserKeys } from '../domain/intents/oauth-flows.js'
import { withoutEnding } from '../engine/text.js'
import type { TokenCookie } from '../operations/operation.js'
import type { Surface } from '../ports/surface.js'

export interface CookiePolicy {
  readonly surface: Surface
  /** Whether the surface's `baseUrl` is https. The request never decides this. */
  readonly secure: boolean
  /** Null for a host-only cookie. */
  readonly domain: string | null
  /** Other domains for which an earlier deployment may have set its cookies. */
  readonly otherDomains?: readonly string[]
  readonly path: string
  /** What the host puts before all names, such as `shop_`. Default none. */
  readonly namePrefix?: string
}

export type SameSite = 'strict' | 'lax' | 'none'

const shortName = { operator: 'op', client: 'cl' } as const

/** A cookie of one OAuth flow: its kind, and the flow's name. */
export type FlowCookieName = `${'oauth' | 'oauth_form'}_${string}`

type CookieKind = Exclude<TokenCookie, 'oauth' | 'oauth_form'> | FlowCookieName | 'signed_in'

/**
 * `__Host-` needs a secure, host-only cookie with path `/`; `__Secure-` only a secure one
 * (RFC 6265bis §4.1.3). Plain names are for local development over http.
 */
export function cookieName(policy: CookiePolicy, what: CookieKind): string {
  const name = `${policy.namePrefix ?? ''}${shortName[policy.surface]}_${what}`
  if (!policy.secure) return name
  return policy.domain === null ? `__Host-${name}` : `__Secure-${name}`
}

/** The same for what one host keeps for itself, whatever domain sessions are shared in. */
export function hostOnly(policy: CookiePolicy): CookiePolicy {
  return { ...policy, domain: null, path: '/' }
}

/** What a surface calls the cookies that it reads. */
export function cookieNames(policy: CookiePolicy) {
  const own = hostOnly(policy)
  return {
    refresh: cookieName(policy, 'refresh'),
    device: cookieName(policy, 'device'),
    marker: cookieName(policy, 'signed_in'),
    registration: cookieName(own, 'registration'),
    recognition: cookieName(own, 'recognition'),
    signIn: cookieName(own, 'sign_in'),
    /** How the names of the cookies of OAuth flows begin. */
    flows: cookieName(own, 'oauth_'),
  }
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
    ...(name.endsWith('_signed_in') ? [] : ['HttpOnly']),
    `SameSite=${sameSiteOf(policy, sameSite)}`,
  ]
  if (policy.domain !== null) attributes.push(`Domain=${policy.domain}`)
  if (policy.secure) attributes.push('Secure')
  return attributes.join('; ')
}

/**
 * Goes with the refresh cookie, as long as that: it tells scripts whether there is a session to ask for, and no secret.
 * Pages below any path look for it.
 */
export function markerCookie(policy: CookiePolicy, sameSite: SameSite, maxAge: number): string {
  const value = maxAge === 0 ? '' : '1'
  return setCookie({ ...policy, path: '/' }, 'signed_in', sameSite, { value, maxAge })
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

/** The cookies of a request: all values of each name, in the order in which the browser sent them; also empty ones. */
export type Cookies = ReadonlyMap<string, readonly string[]>

/** Reads a `Cookie` header. */
export function cookiesIn(header = ''): Cookies {
  const cookies = new Map<string, string[]>()
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=')
    if (equals <= 0) continue
    const name = withoutBlanks(pair.slice(0, equals))
    const value = withoutBlanks(pair.slice(equals + 1))
    const before = cookies.get(name)
    if (before === undefined) cookies.set(name, [value])
    else before.push(value)
  }
  return cookies
}

/** Space and tab only: what else `trim` takes off would make one name of two (RFC 6265 §5.2). */
function withoutBlanks(text: string): string {
  return withoutEnding(text.replace(/^[ \t]+/, ''), ' \t')
}

/**
 * The cookie of this name; null when there is none, or when there are several: then one of them was
 * planted, by a page of another subdomain perhaps, and which one cannot be told.
 */
export function onlyCookie(cookies: Cookies, name: string): string | null {
  const values = cookies.get(name) ?? []
  return values.length === 1 && values[0] ? values[0] : null
}

/** The cookies of this name that are not empty. */
export function fullCookies(cookies: Cookies, name: string): readonly string[] {
  return cookies.get(name)?.filter((value) => value !== '') ?? []
}

/**
 * What is kept of OAuth flows in the cookies whose names begin so, the oldest first (RFC 6265 §5.4); nothing that is
 * there twice.
 */
export function flowKeysIn(cookies: Cookies, start: string): BrowserKeys {
  const keys: BrowserKey[] = []
  for (const name of cookies.keys()) {
    if (!name.startsWith(start)) continue
    const [, form, flow] = /^(form_)?([\w-]{16})$/.exec(name.slice(start.length)) ?? []
    const key = onlyCookie(cookies, name)
    if (flow === undefined || key === null) continue
    keys.push({ mode: form === undefined ? 'query' : 'form_post', flow, key })
  }
  return keys
}
