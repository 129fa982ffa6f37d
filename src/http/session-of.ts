import { type FoundSession, findSession, findSessionAgain, mintForSession } from '../domain/sessions/session-look.js'
import type { SurfaceContext } from '../domain/surface/surface-context.js'
import { AuthError } from '../errors/index.js'
import type { RequestSource, Surface } from '../ports/surface.js'
import type { ClientIp } from './client-ip.js'
import { type CookiePolicy, cookiesOf } from './cookies.js'
import {
  isConnectionAllowed,
  isOriginAllowed,
  type ReadHead,
  readHead,
  userAgentOf,
} from './http-message.js'
import type { InRequest } from './in-request.js'
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
  const { ctx } = deps
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
    const looking = findSession(ctx, cookies, source)
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
        const again = await findSessionAgain(ctx, session, source)
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
    const session = isStale ? await findSessionAgain(ctx, first, source) : first
    if (session === null) return null
    const facts = use === 'connection' ? openOf(session, source) : factsOf(session)
    if (!mint) return facts
    const access = await mintForSession(ctx, session)
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
