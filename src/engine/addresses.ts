const local = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * The one form of an address that is stored, compared, counted and mailed to: trimmed and
 * lower-cased. Null for anything that is not a plain ASCII address with a dotted domain; refusing
 * other scripts keeps look-alikes from being two accounts. Idempotent.
 */
export function canonicalEmail(typed: string): string | null {
  if (typed.length > 320) return null
  const trimmed = typed.trim()
  // Before lower-casing, which makes a plain "k" of the Kelvin sign.
  if (!/^[!-~]+$/.test(trimmed)) return null
  const email = trimmed.toLowerCase()
  const at = email.lastIndexOf('@')
  if (at < 1 || at > 64 || email.length > 254) return null
  const labels = email.slice(at + 1).split('.')
  const valid = labels.length >= 2 && labels.every((part) => label.test(part))
  return valid && local.test(email.slice(0, at)) ? email : null
}

export function domainOf(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1)
}

/** Addresses below `.invalid` can never receive mail (RFC 2606). */
export function isUndeliverable(email: string): boolean {
  return email.endsWith('.invalid')
}

export interface DomainRule {
  readonly domain: string
  readonly includeSubdomains: boolean
}

/** An empty list allows every domain. */
export function isDomainAllowed(email: string, rules: readonly DomainRule[]): boolean {
  if (rules.length === 0) return true
  const domain = domainOf(email)
  return rules.some((rule) => {
    const allowed = rule.domain.trim().toLowerCase()
    return domain === allowed || (rule.includeSubdomains && domain.endsWith(`.${allowed}`))
  })
}

/** The eight groups of an IPv6 address in lower-case hexadecimal without leading zeros. */
export function ipv6Groups(ip: string): readonly string[] {
  const [head = '', tail] = ip.replace(/(?:\d{1,3}\.){3}\d{1,3}$/, asGroups).split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const missing = tail === undefined ? 0 : 8 - left.length - right.length
  const groups = [...left, ...new Array<string>(Math.max(0, missing)).fill('0'), ...right]
  return groups.map((group) => Number.parseInt(group, 16).toString(16))
}

/** IPv6 addresses may end in an IPv4 address, which stands for two groups (RFC 4291 §2.2). */
function asGroups(dotted: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = dotted.split('.').map(Number)
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
}

/**
 * The network that one customer holds, as limits and queues tell callers apart: an IPv4 address itself,
 * of IPv6 the /64. Callers without an address share one.
 */
export function networkOf(ip: string | null): string {
  if (ip === null) return 'unknown'
  return ip.includes(':') ? `${ipv6Groups(ip).slice(0, 4).join(':')}::/64` : ip
}

/**
 * What one attacker easily gets hold of as a whole: of IPv4 the /24, of IPv6 the /48, as RFC 6177 has it
 * for a site. Callers without an address share one.
 */
export function siteOf(ip: string | null): string {
  if (ip === null) return 'unknown'
  if (ip.includes(':')) return `${ipv6Groups(ip).slice(0, 3).join(':')}::/48`
  return `${ip.split('.').slice(0, 3).join('.')}.0/24`
}

const localHosts = /^(?:localhost|127\.0\.0\.1|\[::1\]|(?:[a-z0-9-]+\.)+localhost)$/

/** Whether the name of a host, as a URL has it, is this machine's own: there `http:` may do. */
export function isLocalHost(hostname: string): boolean {
  return localHosts.test(hostname)
}

const appOrigins = [
  // Capacitor, Ionic and Tauri serve an app's own pages from `localhost`, or from a name that the app chose.
  /^(?:capacitor|ionic|tauri):\/\/(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/,
  /^chrome-extension:\/\/[a-p]{32}$/,
  /^moz-extension:\/\/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/,
]

/**
 * Whether this is what a browser sends as the origin of an app's or a browser extension's own pages. `URL` gives no
 * origin of such a scheme, and its host is the name of no machine.
 */
export function isAppOrigin(origin: string): boolean {
  return appOrigins.some((form) => form.test(origin))
}

/**
 * The most characters of a stored URL as it is sent, which is as `new URL(…).href`: a letter that is typed as one
 * character can be sent as nine. URLs that are built out of it stay below 8 kB, which servers take.
 */
export const longestUrl = 2048

/** The same for a URL that others are built below, and that becomes a parameter of another, encoded once more. */
export const longestBaseUrl = 512

/** Where a browser or an app may be sent; a structural part of the setting. */
interface Target {
  readonly uri: string
  readonly surface: 'operator' | 'client'
  readonly flow: 'web' | 'mobile'
}

/**
 * Whether this redirect URI is on the list, by exact string comparison (RFC 9700 §2.1). Nothing is parsed, so no parser
 * can disagree with the browser's.
 */
export function isListedTarget(
  targets: readonly Target[],
  { uri, surface, flow }: Target,
): boolean {
  return targets.some(
    (target) => target.uri === uri && target.surface === surface && target.flow === flow,
  )
}

/**
 * A listed redirect URI, which has no fragment, with members in one. It reaches the page alone: browsers send
 * it neither to a server nor in `Referer` (RFC 9110 §10.1.3). Throws a `TypeError` for what is no URL.
 */
export function withFragment(uri: string, members: Readonly<Record<string, string>>): string {
  const url = new URL(uri)
  url.hash = new URLSearchParams(members).toString()
  return url.href
}

/** A listed redirect URI with more members in its query. Throws a `TypeError` for what is no URL. */
export function withQuery(uri: string, members: Readonly<Record<string, string>>): string {
  const url = new URL(uri)
  const added = new URLSearchParams(members).toString()
  if (added === '') return url.href
  url.search = url.search === '' ? added : `${url.search}&${added}`
  return url.href
}
