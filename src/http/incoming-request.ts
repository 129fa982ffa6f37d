import { BlockList, isIP, isIPv4 } from 'node:net'
import { ipv6Groups, networkOf } from '../engine/addresses.js'
import type { Clock } from '../ports/host.js'
import type { RequestSource } from '../ports/surface.js'
import { type Cookies, cookiesIn } from './cookies.js'
import type { ExchangeBody, ExchangeRequest, InTime, RouteGuardRequest } from './http-message.js'

// What the library reads of a request: once, where it comes in, and before anything judges it.

/** The headers that something behind the entry goes by. */
export const headerNames = [
  'accept',
  'accept-language',
  'access-control-request-method',
  'authorization',
  'content-length',
  'content-type',
  'if-none-match',
  'origin',
  'purpose',
  'sec-fetch-dest',
  'sec-fetch-mode',
  'sec-fetch-site',
  'sec-fetch-user',
  'sec-purpose',
  'traceparent',
  'x-request-id',
  'x-token-delivery',
] as const

/** As `ExchangeRequest.header` gives them. */
export type Headers = { readonly [name in (typeof headerNames)[number]]?: string | undefined }

/** The head of a request, parsed and not judged. */
export interface IncomingHead {
  readonly method: string
  readonly headers: Headers
  readonly cookies: Cookies
  /** The host that the request names. */
  readonly host: string | undefined
  /** The host that the browser asked for, where a trusted proxy forwarded it in `X-Forwarded-Host`. */
  readonly forwardedHost: string | undefined
  readonly source: RequestSource
}

/** A request to a route of the library, parsed and not judged. */
export interface IncomingRequest extends IncomingHead, Pick<ExchangeRequest, 'path' | 'query'> {
  /** As far as it came within the bounds of size and time. */
  body(maxBytes: number): Promise<ExchangeBody>
  /** Where it came from, as limits count it: an IPv4 address or an IPv6 /64 network. */
  readonly address: string
}

/** `undefined` for what is no text: middleware or an adapter of the host may give a header as a list or a number. */
const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined

/** Reads the head of a request, as `ExchangeRequest` gives it. */
export function readHead(
  request: Pick<ExchangeRequest, 'method' | 'header' | 'remoteAddress'>,
  proxies: TrustedProxies,
): IncomingHead {
  const headers: { -readonly [name in keyof Headers]: Headers[name] } = {}
  for (const name of headerNames) {
    const value: unknown = request.header(name)
    if (typeof value === 'string') headers[name] = value
  }
  const { ip, host: forwardedHost } = proxies(request)
  return {
    method: request.method,
    headers,
    cookies: cookiesIn(textOf(request.header('cookie'))),
    host: textOf(request.header('host')),
    forwardedHost,
    source: { ip, userAgent: userAgentOf(request) },
  }
}

/** Reads a request. Its body is read when it is asked for; where it chose the surface, the pipeline gets the same. */
export function readRequest(
  request: ExchangeRequest,
  proxies: TrustedProxies,
  clock: Clock,
): IncomingRequest {
  const head = readHead(request, proxies)
  let body: Promise<ExchangeBody> | null = null
  return {
    ...head,
    path: request.path,
    query: request.query,
    address: networkOf(head.source.ip),
    body(maxBytes) {
      body ??= bodyInTime((inTime) => request.body(maxBytes, inTime), clock)
      return body
    },
  }
}

/**
 * Milliseconds without a byte after which a body is given up: a phone that changes its network, or sends a lost packet
 * again, is silent for less.
 */
const longestSilence = 30_000

/**
 * Milliseconds after which a body is given up that still comes: the largest takes 55 seconds at 9.6 kbit/s, the slowest
 * that a mobile network gives. Without this bound, a byte every half minute would hold a request for a month.
 */
const longestArrival = 120_000

/** What `read` makes of a body; `tooSlow` where the sender keeps to neither bound, whatever `read` still waits for. */
async function bodyInTime(
  read: (inTime: InTime) => Promise<ExchangeBody>,
  clock: Clock,
): Promise<ExchangeBody> {
  let isOver = false
  const inTime: InTime = (part) => within(part, isOver ? 0 : longestSilence, clock)
  const body = await within(read(inTime), longestArrival, clock)
  isOver = true
  return body ?? { kind: 'tooSlow' }
}

/** Null after `ms` milliseconds. Until then it keeps the process alive: a script may wait for nothing but the reply. */
async function within<T>(work: Promise<T>, ms: number, clock: Clock): Promise<T | null> {
  let cancel = (): void => {}
  const late = new Promise<null>((resolve) => {
    cancel = clock.after(ms, () => resolve(null), true)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    cancel()
  }
}

/** What a request to a route of the host's tells, which is read for a refusal alone. */
export function sourceOf(request: RouteGuardRequest, proxies: TrustedProxies): RequestSource {
  return { ip: proxies(request).ip, userAgent: userAgentOf(request) }
}

/** Bounded, because it is kept with the session. */
function userAgentOf(request: Pick<RouteGuardRequest, 'header'>): string | null {
  return (
    textOf(request.header('user-agent'))?.toWellFormed().replaceAll('\0', '').slice(0, 512) ?? null
  )
}

/** The host of a request or of an option. */
export interface RequestHost {
  /** In lower case, without the dot of the root; brackets around an IPv6 address. */
  readonly name: string
  /** Empty where none was named. */
  readonly port: string
}

/** Name or address, the dot of the root, and a port, which may be empty (RFC 9110 §7.2). */
const hostForm = /^(\[[\da-f:.]+\]|[a-z0-9_](?:[\w.-]*[\w-])?)\.?(?::(\d{0,5}))?$/

/** Null for a text that names no host. */
export function readHost(text: string | undefined): RequestHost | null {
  const [, name, port = ''] = hostForm.exec(text?.trim().toLowerCase() ?? '') ?? []
  return name === undefined ? null : { name, port }
}

/**
 * Whether a request that a cookie authenticates may come from where it says it comes from. Browsers
 * send at least one of the two headers with every request that could do harm; a request with
 * neither comes from no browser, and carries no cookie it was not given.
 */
export function isOriginAllowed(
  { origin, 'sec-fetch-site': secFetchSite }: Headers,
  allowed: ReadonlySet<string>,
): boolean {
  if (secFetchSite === 'same-origin' || secFetchSite === 'none') return true
  if (origin !== undefined) return allowed.has(origin)
  return secFetchSite === undefined
}

/**
 * The same for a connection that stays open. Browsers apply no rule of origins to a WebSocket, and always say
 * where it comes from (RFC 6455 §10.2): a request that does not say comes from no page of these origins.
 */
export function isConnectionAllowed(
  { origin, 'sec-fetch-site': secFetchSite }: Headers,
  allowed: ReadonlySet<string>,
): boolean {
  return secFetchSite === 'same-origin' || (origin !== undefined && allowed.has(origin))
}

/** Whether a browser goes there with the whole page, as by a link (Fetch Metadata). */
export function isNavigation(headers: Headers): boolean {
  return headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
}

/** Whether a person gets to see the reply itself. A browser without Fetch Metadata says what it can show. */
export function isPageLoad(headers: Headers): boolean {
  const mode = headers['sec-fetch-mode']
  if (mode !== undefined) return mode === 'navigate'
  return headers.accept?.toLowerCase().includes('text/html') ?? false
}

/** Whether a browser asks ahead, for a page that the person may never open. Some say so by the older header. */
export function isPrefetch({ purpose, ...headers }: Headers): boolean {
  const purposes = [headers['sec-purpose'], purpose]
  return purposes.some((said = '') => /^\s*prefetch\b/i.test(said))
}

/**
 * Whether the person had a part in this navigation: an address that was typed, a step within this origin, or a click or
 * key on a page of another. A page that leads there by itself has none, be it one of a neighbouring subdomain, which
 * others may own; and a browser without Fetch Metadata does not say.
 */
export function isAskedByPerson(headers: Headers): boolean {
  const site = headers['sec-fetch-site']
  return site === 'same-origin' || site === 'none' || headers['sec-fetch-user'] === '?1'
}

/**
 * The proxies whose `X-Forwarded-For` and `X-Forwarded-Host` count. `false` ignores both; a number trusts that many
 * hops, counted from the socket; a list trusts hosts in these networks (`10.0.0.0/8`, `::1`).
 */
export type TrustProxy = false | number | readonly string[]

/** Who asked, as far as the proxies in between are trusted. */
interface Peer {
  /** Null where neither socket nor proxy tells it. */
  readonly ip: string | null
  /** The host that the browser asked for; undefined where the header is missing or the peer is not trusted. */
  readonly host: string | undefined
}

/** Tells who asked by the socket's address, `X-Forwarded-For` and `X-Forwarded-Host`. */
export type TrustedProxies = (request: RouteGuardRequest) => Peer

/** Throws a `RangeError` for a network it cannot read. */
export function trustedProxies(trust: TrustProxy): TrustedProxies {
  const isTrusted = trusted(trust)
  return (request) => {
    let client = normalized(request.remoteAddress ?? '')
    if (!isTrusted(client, 0)) return { ip: client, host: undefined }
    const forwardedFor = textOf(request.header('x-forwarded-for')) ?? ''
    let end = forwardedFor.length
    let proxies = 0
    // Nearest first: each hop vouches for the one before it, until one is not trusted. What lies
    // before that may be forged by any client, so it is not read.
    while (isTrusted(client, proxies)) {
      proxies += 1
      if (end <= 0) break
      const start = forwardedFor.lastIndexOf(',', end - 1) + 1
      const address = normalized(forwardedFor.slice(start, end).trim())
      if (address === null) break
      client = address
      end = start - 1
    }
    // A proxy replaces the header or appends to it: what stands before may be the client's own.
    const hosts = textOf(request.header('x-forwarded-host'))?.split(',') ?? []
    return { ip: client, host: hosts[Math.max(0, hosts.length - proxies)]?.trim() }
  }
}

type IsTrusted = (address: string | null, hop: number) => boolean

function trusted(trust: TrustProxy): IsTrusted {
  if (trust === false) return () => false
  if (typeof trust === 'number') {
    if (!Number.isInteger(trust) || trust < 0) throw new RangeError('must be a number of hops')
    return (_address, hop) => hop < trust
  }
  const networks = new BlockList()
  for (const network of trust) addNetwork(networks, network)
  return (address) => address !== null && networks.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')
}

function addNetwork(networks: BlockList, network: string): void {
  const [address = '', prefix, ...rest] = network.split('/')
  const family = isIP(address)
  const widest = family === 4 ? 32 : 128
  const bits = prefix === undefined ? widest : Number(prefix)
  if (family === 0 || rest.length > 0 || !/^\d{1,3}$/.test(prefix ?? '1') || bits > widest) {
    throw new RangeError(`"${network}" is not an address or a network such as 10.0.0.0/8`)
  }
  if (bits === 0) throw new RangeError(`"${network}" would trust every address`)
  networks.addSubnet(address, bits, family === 4 ? 'ipv4' : 'ipv6')
}

/** The longest text that can be an address: a mapped one with a zone, brackets and a port. */
const longestAddress = 80

/** `[2001:db8::1]:443` and `192.0.2.1:443`: some proxies add the port. */
const withPort = /^(?:\[([\da-f:.]+(?:%[\w.-]+)?)\]|([\d.]+))(?::\d{1,5})?$/i

/** A plain IP address, IPv4 also where it came mapped into IPv6; null for anything else. */
function normalized(address: string): string | null {
  if (address.length > longestAddress) return null
  const [, bracketed, dotted] = withPort.exec(address) ?? []
  const bare = bracketed ?? dotted ?? address
  if (isIPv4(bare)) return bare
  const zoneless = bare.split('%')[0] ?? ''
  return isIP(zoneless) === 6 ? (mappedIPv4(zoneless) ?? zoneless) : null
}

/** The IPv4 address in `::ffff:192.0.2.1`, however it is spelled; else null. */
function mappedIPv4(address: string): string | null {
  const groups = ipv6Groups(address)
  if (groups.slice(0, 6).join() !== '0,0,0,0,0,ffff') return null
  const bytes = groups.slice(6).flatMap((group) => {
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 255]
  })
  return bytes.join('.')
}
