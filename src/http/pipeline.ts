import type { Admitted, Services, SignedIn } from '../domain/services.js'
import { AuthError, ConfigValidationError, describeError } from '../errors.js'
import type {
  AdminOperation,
  Answer,
  Call,
  EnrollingOperation,
  Guard,
  GuardedOperation,
  Operation,
  Params,
} from '../operations/operation.js'
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
import { commonHeaders, problemReply, validatorReply } from './problem.js'
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
 * (or a foreign bearer on a public route), user limit, permission, what the path names, body,
 * handler.
 */
export function createPipeline(deps: PipelineDeps): Pipeline {
  const { surface, services, tracing } = deps
  const refusals = refusalEvents(deps)

  async function run(request: ExchangeRequest): Promise<ExchangeReply> {
    const match = deps.matcher.match(request.method, request.path)
    if (match.kind !== 'operation') return refuseRoute(request, match)
    const { operation, params } = match
    const { reply } = await tracing.operation(surface, operation.id, () =>
      handle(operation, request, params),
    )
    return reply
  }

  async function handle(
    operation: Operation,
    request: ExchangeRequest,
    params: Params,
  ): Promise<Ended & { readonly reply: ExchangeReply }> {
    let sameSite: SameSite | null = null
    try {
      sameSite = await sameSiteFor(operation)
      const reply = answer(operation, await perform(operation, request, params), sameSite)
      return { reply, status: reply.status, code: null }
    } catch (cause) {
      if (cause instanceof ConfigValidationError) {
        // Its own code may be anything, and labels are of a closed list.
        return { reply: validatorReply(cause), status: 422, code: null }
      }
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
    // An administrator must be able to mend settings that cannot be read.
    if (operation.access === 'admin') return null
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

  async function perform(
    operation: Operation,
    request: ExchangeRequest,
    params: Params,
  ): Promise<Answer<unknown>> {
    const ip = deps.clientIp(request.remoteAddress, request.header('x-forwarded-for'))
    const visitor: Visitor = { occasion: { ip, userAgent: userAgentOf(request) }, userId: null }
    try {
      return await admitAndServe(operation, request, params, visitor)
    } catch (error) {
      refusals.announce(operation.id, error, visitor)
      throw error
    }
  }

  async function admitAndServe(
    operation: Operation,
    request: ExchangeRequest,
    params: Params,
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
      return operation.handle({ body, occasion, refreshCookie, bearer, params }, services)
    }
    if (operation.access === 'enrolling' && request.header('authorization') === undefined) {
      return serveTicket(operation, request, { occasion, refreshCookie, bearer: null, params })
    }
    const principal = await services.access.authenticate(request.header('authorization'))
    visitor.userId = principal.userId
    await limitByUser(operation.limit, principal.userId, services)
    const call = { occasion, refreshCookie, bearer: principal.claims, params }
    return operation.access === 'admin'
      ? serveAdmin(operation, request, principal, call)
      : serveSignedIn(operation, request, principal, call)
  }

  /** Whose it is and what it is good for, the handler finds out: the ticket is in the body. */
  async function serveTicket(
    operation: EnrollingOperation,
    request: ExchangeRequest,
    call: Omit<Call<unknown>, 'body'>,
  ): Promise<Answer<unknown>> {
    const body = await readBody(request, operation)
    const mfaToken = ticketOf(body)
    if (mfaToken === null) throw new AuthError('unauthorized')
    return operation.handle({ ...call, body, enrollee: { kind: 'ticket', mfaToken } }, services)
  }

  async function serveSignedIn(
    operation: GuardedOperation | EnrollingOperation,
    request: ExchangeRequest,
    principal: Admitted['principal'],
    call: Omit<Call<unknown>, 'body'>,
  ): Promise<Answer<unknown>> {
    const { sessionId } = services.access.requireHuman(principal)
    const signedIn: SignedIn = { ...(await permit(operation, principal)), sessionId }
    if (has(operation, 'stepUp')) {
      const { stepUpMaxAge } = await services.settings()
      await services.stepUp.require(principal, stepUpMaxAge)
    }
    const body = await readBody(request, operation)
    if (operation.access === 'enrolling') {
      const enrollee = { kind: 'session', who: signedIn } as const
      return operation.handle({ ...call, body, enrollee }, services)
    }
    return operation.handle({ ...call, body, ...signedIn }, services)
  }

  async function serveAdmin(
    operation: AdminOperation,
    request: ExchangeRequest,
    principal: Admitted['principal'],
    call: Omit<Call<unknown>, 'body'>,
  ): Promise<Answer<unknown>> {
    const admitted = await permit(operation, principal)
    await operation.locate(call.params, services)
    const body = await readBody(request, operation)
    return operation.handle({ ...call, body, ...admitted }, services)
  }

  async function permit(
    operation: GuardedOperation | EnrollingOperation | AdminOperation,
    principal: Admitted['principal'],
  ): Promise<Admitted> {
    const permission = operation.guards.find((guard) => guard.kind === 'permission')
    // An entry without a permission would be open to anybody signed in; none is meant to be.
    if (permission === undefined) throw new Error(`${operation.id} names no permission`)
    const user = await services.access.permit(principal, permission.key)
    return { principal, user }
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

/** The schema of every such operation has the member, or lets it be absent. */
function ticketOf(body: unknown): string | null {
  const named = typeof body === 'object' && body !== null && 'mfaToken' in body
  return named && typeof body.mfaToken === 'string' ? body.mfaToken : null
}

function has(operation: Operation, kind: Guard['kind']): boolean {
  return operation.guards.some((guard) => guard.kind === kind)
}

/** Bounded, because it is kept with the session. */
function userAgentOf(request: ExchangeRequest): string | null {
  return request.header('user-agent')?.toWellFormed().replaceAll('\0', '').slice(0, 512) ?? null
}
