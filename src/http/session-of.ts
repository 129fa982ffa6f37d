import type { AccessGrant, FoundSession, SessionLook } from '../domain/services/index.js'
import { AuthError } from '../errors/index.js'
import type { RequestSource, Surface } from '../ports/surface.js'
import type { ClientIp } from './client-ip.js'
import { type CookiePolicy, cookiesOf } from './cookies.js'
import {
  isConnectionAllowed,
  isOriginAllowed,
  type ReadHead,
  type RequestHead,
  readHead,
  userAgentOf,
} from './http-message.js'
import type { InRequest } from './in-request.js'

/**
 * What a session is read for. `page`: a page is rendered (GET and HEAD, from any origin). `connection`: a WebSocket or
 * an EventSource is opened. `action`: a form is posted, or another request changes something (POST, PUT, PATCH, DELETE).
 */
export type SessionUse = 'page' | 'connection' | 'action'

/**
 * The signed-in person, as facts to render. It is no `Principal`: no guard, `requirePermission` or `requireStepUp`
 * takes it, because a cookie comes with requests that the person did not mean to send.
 */
export interface PageSession<S extends Surface = Surface> {
  readonly surface: S
  readonly user: {
    readonly id: string
    /** As it was typed at registration. */
    readonly email: string
    readonly name: string
    readonly emailVerified: boolean
  }
  /** All times in epoch milliseconds. */
  readonly session: {
    readonly id: string
    readonly loginAt: number
    /** When it ends unless it is refreshed before. Reading it does not move this. */
    readonly idleExpiresAt: number
    /** When it ends whatever happens; null without a cap. */
    readonly absoluteExpiresAt: number | null
  }
  /** To send with every reply that depends on it: `cache-control: private, no-store`. */
  readonly headers: { readonly 'cache-control': string }
}

/** The session of a connection that stays open. */
export interface ConnectionSession<S extends Surface = Surface> extends PageSession<S> {
  /**
   * Reads the session afresh, whatever cookie the browser has by now: null once it has ended, by sign-out, expiry,
   * cap, or because the user was disabled or deleted. Null as well once the key that signed the cookie is no longer in
   * the ring, and after a change of the password in the session and a refresh: the page opens another connection with
   * its present cookie, if it has one. Call it at least every 30 seconds, and close the connection at null. Throws
   * `AuthError` 503 `session_enforcement_unavailable` when store or keys do not answer, which says neither; ask again,
   * and close when it lasts.
   */
  recheck(): Promise<PageSession<S> | null>
}

/** An access token that `mint: true` asked for. */
export interface MintedAccess {
  /** As in the reply of `GET …/session`; `expiresIn` in seconds. */
  readonly access: AccessGrant
}

/** Reads the session of a request; see `SurfaceAuth.sessionOf`. */
export interface SessionOf<S extends Surface = Surface> {
  (
    request: RequestHead,
    options: { readonly use: 'page'; readonly mint?: false } & Peer,
  ): Promise<PageSession<S> | null>
  (
    request: RequestHead,
    options: { readonly use: 'connection'; readonly mint: true } & Peer,
  ): Promise<(ConnectionSession<S> & MintedAccess) | null>
  (
    request: RequestHead,
    options: { readonly use: 'connection'; readonly mint?: false } & Peer,
  ): Promise<ConnectionSession<S> | null>
  (
    request: RequestHead,
    options: { readonly use: 'action'; readonly mint: true } & Peer,
  ): Promise<(PageSession<S> & MintedAccess) | null>
  (
    request: RequestHead,
    options: { readonly use: 'action'; readonly mint?: false } & Peer,
  ): Promise<PageSession<S> | null>
}

/** The options of every overload. */
export interface SessionOfOptions extends Peer {
  readonly use: SessionUse
  readonly mint?: boolean
}

/** The same without the overloads, which say what members come with which use. */
export type AnySessionOf<S extends Surface> = (
  request: RequestHead,
  options: SessionOfOptions,
) => Promise<(PageSession<S> & Partial<MintedAccess>) | null>

interface Peer {
  /**
   * The peer's address, as adapters pass it on; `trustProxy` decides whether `X-Forwarded-For` counts. Default: that of
   * the request's socket, where it has one.
   */
  readonly remoteAddress?: string | undefined
}

export interface SessionOfDeps {
  readonly sessionLook: SessionLook
  readonly cookies: CookiePolicy
  readonly allowedOrigins: ReadonlySet<string>
  readonly clientIp: ClientIp
  readonly inRequest: InRequest
  /** Whether the host that a request names is the other surface's alone. */
  readonly isElsewhere: (request: ReadHead) => boolean
}

/** What a reply with these facts is sent with: it is one person's, and out of date at the next sign-out. */
const replyHeaders = Object.freeze({ 'cache-control': 'private, no-store' })

const uses: readonly string[] = ['page', 'connection', 'action'] satisfies SessionUse[]
const unsafe: readonly string[] = ['POST', 'PUT', 'PATCH', 'DELETE']

/** Finds out who is signed in, for pages, connections and form posts of a server-rendered host. */
export function sessionOf<S extends Surface>(surface: S, deps: SessionOfDeps): AnySessionOf<S> {
  const { sessionLook } = deps
  /** A page asks in many places, and is answered alike in each. Kept with the request and for no longer. */
  const found = new WeakMap<object, Promise<FoundSession | null>>()

  function requireUse(use: SessionUse, request: ReadHead): void {
    const { method } = request
    if (use === 'page' && method !== 'GET' && method !== 'HEAD') refuseMethod(use, 'GET and HEAD')
    if (use === 'action' && !unsafe.includes(method)) refuseMethod(use, unsafe.join(', '))
    if (use === 'page') return
    const headers = {
      origin: request.header('origin'),
      secFetchSite: request.header('sec-fetch-site'),
    }
    const isAllowed = use === 'action' ? isOriginAllowed : isConnectionAllowed
    if (!isAllowed(headers, deps.allowedOrigins)) throw new AuthError('csrf_rejected')
  }

  function findOnce(
    key: object,
    request: ReadHead,
    source: RequestSource,
  ): Promise<FoundSession | null> {
    const known = found.get(key)
    if (known !== undefined) return known
    const cookies = cookiesOf(request, deps.cookies, 'refresh').filter((value) => value !== '')
    const looking = sessionLook.find(cookies, source)
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

  function openOf(session: FoundSession, source: RequestSource): ConnectionSession<S> {
    return {
      ...factsOf(session),
      async recheck() {
        const again = await sessionLook.again(session, source)
        return again === null ? null : factsOf(again)
      },
    }
  }

  async function look(request: object, head: ReadHead, { use, mint = false }: SessionOfOptions) {
    requireUse(use, head)
    if (deps.isElsewhere(head)) throw new AuthError('not_found')
    const ip = deps.clientIp(head.remoteAddress, head.header('x-forwarded-for'))
    const source = { ip, userAgent: userAgentOf(head) }
    const isKnown = found.has(request)
    const first = await findOnce(request, head, source)
    // The body may come an hour after the head, and the user may sign out in between.
    const isStale = use !== 'page' && isKnown && first !== null
    const session = isStale ? await sessionLook.again(first, source) : first
    if (session === null) return null
    const facts = use === 'connection' ? openOf(session, source) : factsOf(session)
    if (!mint) return facts
    const access = await sessionLook.mint(session)
    return access === null ? null : { ...facts, access }
  }

  return async (request, given) => {
    const options = requireOptions(given)
    const head = readHead(request, options.remoteAddress)
    return deps.inRequest('sessionOf', head, () => look(request, head, options))
  }
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
