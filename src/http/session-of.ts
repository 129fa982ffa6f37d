import {
  type FoundSession,
  findSession,
  findSessionAgain,
  mintForSession,
} from '../domain/sessions/own-sessions.js'
import type { SurfaceContext } from '../domain/surface/surface-context.js'
import { AuthError } from '../errors/index.js'
import type { Surface } from '../ports/surface.js'
import type { InRequest } from '../ports/telemetry.js'
import { type CookiePolicy, cookieNames, fullCookies, onlyCookie } from './cookies.js'
import type { ExchangeRequest, RequestHead } from './http-message.js'
import {
  type IncomingHead,
  isConnectionAllowed,
  isOriginAllowed,
  readHead,
  type TrustedProxies,
} from './incoming-request.js'
import type {
  AnySessionOf,
  ConnectionSession,
  PageSession,
  SessionOfOptions,
  SessionUse,
} from './session-facts.js'

export interface SessionOfDeps {
  readonly ctx: SurfaceContext
  readonly cookies: CookiePolicy
  readonly allowedOrigins: ReadonlySet<string>
  readonly proxies: TrustedProxies
  readonly inRequest: InRequest
  /** Whether the host that a request names is the other surface's alone. */
  readonly isElsewhere: (head: IncomingHead) => boolean
}

/** What a reply with these facts is sent with: it is one person's, and out of date at the next sign-out. */
const replyHeaders = Object.freeze({ 'cache-control': 'private, no-store' })

const uses: readonly string[] = ['page', 'connection', 'action'] satisfies SessionUse[]
const unsafe: readonly string[] = ['POST', 'PUT', 'PATCH', 'DELETE']

/** Finds out who is signed in, for pages, connections and form posts of a server-rendered host. */
export function sessionOf<S extends Surface>(surface: S, deps: SessionOfDeps): AnySessionOf<S> {
  const { ctx } = deps
  const names = cookieNames(deps.cookies)
  /** A page asks in many places, and is answered alike in each. Kept with the request and for no longer. */
  const found = new WeakMap<object, Promise<FoundSession | null>>()

  function requireUse(use: SessionUse, { method, headers }: IncomingHead): void {
    if (use === 'page' && method !== 'GET' && method !== 'HEAD') refuseMethod(use, 'GET and HEAD')
    if (use === 'action' && !unsafe.includes(method)) refuseMethod(use, unsafe.join(', '))
    if (use === 'page') return
    const isAllowed = use === 'action' ? isOriginAllowed : isConnectionAllowed
    if (!isAllowed(headers, deps.allowedOrigins)) throw new AuthError('csrf_rejected')
  }

  function visitorOf({ cookies, source }: IncomingHead) {
    return { source, recognitionId: onlyCookie(cookies, names.recognition) }
  }

  function findOnce(key: object, head: IncomingHead): Promise<FoundSession | null> {
    const known = found.get(key)
    if (known !== undefined) return known
    const looking = findSession(ctx, fullCookies(head.cookies, names.refresh), visitorOf(head))
    found.set(key, looking)
    // What was not answered may be asked again.
    looking.catch(() => found.delete(key))
    return looking
  }

  function factsOf({ user, family, absoluteExpiresAt }: FoundSession): PageSession<S> {
    const { id, emailAsTyped: email, name, emailVerifiedAt } = user
    return {
      surface,
      user: { id, email, name, emailVerified: emailVerifiedAt !== null },
      session: {
        id: family.id,
        loginAt: family.loginAt,
        idleExpiresAt: family.expiresAt,
        absoluteExpiresAt,
      },
      headers: replyHeaders,
    }
  }

  function openOf(session: FoundSession, head: IncomingHead): ConnectionSession<S> {
    return {
      ...factsOf(session),
      async recheck() {
        const again = await findSessionAgain(ctx, session, visitorOf(head))
        return again === null ? null : factsOf(again)
      },
    }
  }

  async function look(
    request: object,
    head: IncomingHead,
    { use, mint = false }: SessionOfOptions,
  ) {
    requireUse(use, head)
    if (deps.isElsewhere(head)) throw new AuthError('not_found')
    const isKnown = found.has(request)
    const first = await findOnce(request, head)
    // The body may come an hour after the head, and the user may sign out in between.
    const isStale = use !== 'page' && isKnown && first !== null
    const session = isStale ? await findSessionAgain(ctx, first, visitorOf(head)) : first
    if (session === null) return null
    const facts = use === 'connection' ? openOf(session, head) : factsOf(session)
    if (!mint) return facts
    const access = await mintForSession(ctx, session)
    return access === null ? null : { ...facts, access }
  }

  return async (request, given) => {
    const options = requireOptions(given)
    const view = viewOf(request, options.remoteAddress)
    return deps.inRequest('sessionOf', view, () =>
      look(request, readHead(view, deps.proxies), options),
    )
  }
}

/** Throws a `TypeError` for what is no request, such as the text of a cookie. */
function viewOf(
  request: RequestHead,
  remoteAddress: string | undefined,
): Pick<ExchangeRequest, 'method' | 'header' | 'remoteAddress'> {
  if (typeof request?.headers !== 'object' || request.headers === null) {
    throw new TypeError(
      'sessionOf: needs a request with method and headers, not a cookie; give it the Request, or { method, headers }',
    )
  }
  const { method } = request
  if (typeof method !== 'string') {
    throw new TypeError("sessionOf: request.method is missing; give { method: 'GET', headers }")
  }
  const { headers, url } = request
  const read = readerOf(headers)
  return {
    method,
    header: (name) => (name === 'host' ? hostOf(read, headers, url) : read(name)),
    remoteAddress: remoteAddress ?? request.socket?.remoteAddress,
  }
}

type Headers = RequestHead['headers']
type ReadHeader = (name: string) => string | undefined

/**
 * Reads a header by its lower-case name, from whatever form of headers a host has. An object that it made itself may have
 * `Origin`, or `origin` without a value beside it: one that is overlooked would let another site post.
 */
function readerOf(headers: Headers): ReadHeader {
  if (isWeb(headers)) return (name) => headers.get(name) ?? undefined
  const given = new Map<string, string[]>()
  for (const [name, value] of pairsOf(headers)) {
    const values = [value].flat().filter((one) => one !== undefined && one !== null)
    if (values.length === 0) continue
    const key = name.toLowerCase()
    given.set(key, [...(given.get(key) ?? []), ...values.map(String)])
  }
  // As Node joins the lines of one header.
  return (name) => given.get(name)?.join(name === 'cookie' ? '; ' : ',')
}

function pairsOf(headers: Exclude<Headers, WebHeaders>): readonly (readonly [string, unknown])[] {
  if (!isIterable(headers)) return Object.entries(headers)
  const pairs = [...headers]
  if (pairs.every((pair) => Array.isArray(pair) && typeof pair[0] === 'string')) return pairs
  throw new TypeError('sessionOf: a list of headers needs pairs of name and value')
}

type WebHeaders = Extract<Headers, { get(name: string): string | null }>

/** A `Map` has the same method, and knows each name in one case alone. */
function isWeb(headers: Headers): headers is WebHeaders {
  return 'get' in headers && typeof headers.get === 'function' && !(headers instanceof Map)
}

function isIterable(headers: Headers): headers is Extract<Headers, Iterable<unknown>> {
  return Symbol.iterator in headers
}

function hostOf(read: ReadHeader, headers: Headers, url: string | undefined): string | undefined {
  // HTTP/2 names the host in a pseudo-header (RFC 9113 §8.3.1), which web headers cannot hold.
  const authority = isWeb(headers) ? undefined : read(':authority')
  const named = authority ?? read('host')
  return named ?? (url !== undefined && URL.canParse(url) ? new URL(url).host : undefined)
}

function requireOptions(options: SessionOfOptions): SessionOfOptions {
  const { use, mint } = options ?? {}
  if (!uses.includes(use)) {
    throw new TypeError("sessionOf: use must be 'page', 'connection' or 'action'")
  }
  if (mint !== undefined && typeof mint !== 'boolean') {
    throw new TypeError('sessionOf: mint must be true or false')
  }
  if (mint && use === 'page') {
    throw new TypeError(
      "sessionOf: mint is not for use 'page', whose reply any origin may ask for; use 'action', or let the page's script call GET session",
    )
  }
  return options
}

function refuseMethod(use: SessionUse, methods: string): never {
  const detail = `A session is read for this ${use} with ${methods} only.`
  throw new AuthError('method_not_allowed', { detail })
}
