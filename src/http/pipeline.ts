import type { Services, SignedIn } from '../domain/services.js'
import { AuthError, describeError } from '../errors.js'
import type { Answer, Guard, GuardedOperation, Operation } from '../operations/operation.js'
import type { Clock } from '../ports/clock.js'
import type { Surface } from '../ports/surface.js'
import type { AuthEvent, Logger } from '../ports/telemetry.js'
import type { Ended, Tracing } from '../ports/tracing.js'
import { type ClientIp, limitSubject } from './client-ip.js'
import {
  type CookiePolicy,
  clearRefreshCookie,
  readCookie,
  refreshCookieName,
  type SameSite,
  setRefreshCookie,
} from './cookies.js'
import type { ExchangeReply, ExchangeRequest } from './exchange.js'
import type { Matcher } from './match.js'
import { isOriginAllowed } from './origin.js'
import { commonHeaders, problemReply } from './problem.js'
import { limitByAddress, limitByUser } from './rate-class.js'
import { refusalEvents, type Visitor } from './refusal-events.js'
import { readBody } from './request-body.js'

/** One surface's way from a request to a reply. */
export interface Pipeline {
  /** Never rejects: whatever goes wrong is a problem body. */
  run(request: ExchangeRequest): Promise<ExchangeReply>
}

export interface PipelineDeps {
  readonly surface: Surface
  readonly matcher: Matcher
  readonly services: Services
  readonly cookies: CookiePolicy
  readonly allowedOrigins: ReadonlySet<string>
  readonly clientIp: ClientIp
  readonly clock: Clock
  readonly emit: (event: AuthEvent) => void
  readonly tracing: Tracing
  readonly logger: Logger
}

/**
 * The fixed order of checks, the same for every operation: route, address limit, origin, bearer
 * (or a foreign bearer on a public route), user limit, permission, body, handler.
 */
export function createPipeline(deps: PipelineDeps): Pipeline {
  const { surface, services, tracing } = deps
  const refusals = refusalEvents(deps)

  async function run(request: ExchangeRequest): Promise<ExchangeReply> {
    const match = deps.matcher.match(request.method, request.path)
    if (match.kind !== 'operation') return refuseRoute(request, match)
    const { operation } = match
    const { reply } = await tracing.operation(surface, operation.id, () =>
      handle(operation, request),
    )
    return reply
  }

  async function handle(
    operation: Operation,
    request: ExchangeRequest,
  ): Promise<Ended & { readonly reply: ExchangeReply }> {
    let sameSite: SameSite | null = null
    try {
      sameSite = await sameSiteFor(operation)
      const reply = answer(operation, await perform(operation, request), sameSite)
      return { reply, status: reply.status, code: null }
    } catch (cause) {
      const error = toAuthError(cause, operation)
      const reply = refuse(operation, request, error, sameSite)
      return { reply, status: reply.status, code: error.code }
    }
  }

  /**
   * Known before anything is consumed: a reply that sets a cookie must not fail for want of it. Null
   * for a read that sets none.
   */
  async function sameSiteFor(operation: Operation): Promise<SameSite | null> {
    if (operation.method === 'GET' && !operation.usesRefreshCookie) return null
    return (await services.settings()).cookieSameSite
  }

  /** A genuine token of the other surface is told so even where there is no route (T-92). */
  async function refuseRoute(
    request: ExchangeRequest,
    match: Exclude<ReturnType<Matcher['match']>, { kind: 'operation' }>,
  ): Promise<ExchangeReply> {
    try {
      await services.access.peek(request.header('authorization'))
    } catch (error) {
      return problemReply(toAuthError(error, null))
    }
    if (match.kind === 'none') return problemReply(new AuthError('not_found'))
    const allow = { allow: match.allow.join(', ') }
    return problemReply(new AuthError('method_not_allowed'), allow)
  }

  async function perform(operation: Operation, request: ExchangeRequest): Promise<Answer<unknown>> {
    const ip = deps.clientIp(request.remoteAddress, request.header('x-forwarded-for'))
    const visitor: Visitor = { occasion: { ip, userAgent: userAgentOf(request) }, userId: null }
    try {
      return await admitAndServe(operation, request, visitor)
    } catch (error) {
      refusals.announce(operation.id, error, visitor)
      throw error
    }
  }

  async function admitAndServe(
    operation: Operation,
    request: ExchangeRequest,
    visitor: Visitor,
  ): Promise<Answer<unknown>> {
    const { occasion } = visitor
    const address = limitSubject(occasion.ip)
    await limitByAddress(operation.limit, address, surface, services)
    if (has(operation, 'origin')) checkOrigin(request)

    const refreshCookie = cookieOf(request)
    if (operation.access === 'public') {
      const bearer = await services.access.peek(request.header('authorization'))
      visitor.userId = bearer?.sub ?? null
      await limitByUser(operation.limit, bearer?.sub ?? address, services)
      const body = await readBody(request, operation)
      return operation.handle({ body, occasion, refreshCookie, bearer }, services)
    }
    const signedIn = await admit(operation, request, visitor)
    const body = await readBody(request, operation)
    const bearer = signedIn.principal.claims
    return operation.handle({ body, occasion, refreshCookie, bearer, ...signedIn }, services)
  }

  async function admit(
    operation: GuardedOperation,
    request: ExchangeRequest,
    visitor: Visitor,
  ): Promise<SignedIn> {
    const principal = await services.access.authenticate(request.header('authorization'))
    visitor.userId = principal.userId
    await limitByUser(operation.limit, principal.userId, services)
    const { sessionId } = services.access.requireHuman(principal)
    const permission = operation.guards.find((guard) => guard.kind === 'permission')
    // An entry without a permission would be open to anybody signed in; none is meant to be.
    if (permission === undefined) throw new Error(`${operation.id} names no permission`)
    const user = await services.access.permit(principal, permission.key)
    return { principal, sessionId, user }
  }

  function checkOrigin(request: ExchangeRequest): void {
    const headers = {
      origin: request.header('origin'),
      secFetchSite: request.header('sec-fetch-site'),
    }
    if (!isOriginAllowed(headers, deps.allowedOrigins)) throw new AuthError('csrf_rejected')
  }

  function cookieOf(request: ExchangeRequest): string | null {
    return readCookie(request.header('cookie'), refreshCookieName(deps.cookies))
  }

  function answer(
    operation: Operation,
    given: Answer<unknown>,
    sameSite: SameSite | null,
  ): ExchangeReply {
    const isEmpty = operation.status === 204
    const { refreshCookie } = given
    return {
      status: operation.status,
      headers: {
        ...commonHeaders,
        ...(isEmpty ? {} : { 'content-type': 'application/json; charset=utf-8' }),
        ...given.headers,
      },
      cookies: refreshCookie && sameSite ? [cookieFor(refreshCookie, sameSite)] : [],
      body: isEmpty ? null : JSON.stringify(given.body),
    }
  }

  function cookieFor(
    refresh: Exclude<Answer<unknown>['refreshCookie'], undefined>,
    sameSite: SameSite,
  ): string {
    if (refresh === 'clear') return clearRefreshCookie(deps.cookies, sameSite)
    const { refreshToken, expiresIn } = refresh
    return setRefreshCookie(deps.cookies, sameSite, refreshToken, expiresIn)
  }

  function refuse(
    operation: Operation,
    request: ExchangeRequest,
    error: AuthError,
    sameSite: SameSite | null,
  ): ExchangeReply {
    const reply = problemReply(error)
    // A dead cookie is taken away; one of the other surface, or one that could not be judged, stays.
    const dead = error.status === 401 && error.code !== 'audience_mismatch'
    const clears = operation.usesRefreshCookie && dead && cookieOf(request) !== null
    return clears && sameSite ? { ...reply, cookies: [cookieFor('clear', sameSite)] } : reply
  }

  function toAuthError(error: unknown, operation: Operation | null): AuthError {
    if (!(error instanceof AuthError)) {
      const fields = { operation: operation?.id, ...describeError(error) }
      deps.logger.error('a request failed unexpectedly', fields)
      return new AuthError('internal_error')
    }
    const isSession = operation?.errors.includes('session_enforcement_unavailable') ?? false
    return isSession && error.code === 'service_unavailable'
      ? new AuthError('session_enforcement_unavailable', { cause: error })
      : error
  }

  return { run }
}

function has(operation: Operation, kind: Guard['kind']): boolean {
  return operation.guards.some((guard) => guard.kind === kind)
}

/** Bounded, because it is kept with the session. */
function userAgentOf(request: ExchangeRequest): string | null {
  return request.header('user-agent')?.toWellFormed().replaceAll('\0', '').slice(0, 512) ?? null
}
