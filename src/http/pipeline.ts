import type { Admitted, FlowCookie, Services, SignedIn } from '../domain/services/index.js'
import { AuthError, ConfigValidationError, describeError } from '../errors/index.js'
import type {
  AdminOperation,
  Answer,
  Call,
  EnrollingOperation,
  GuardedOperation,
  Operation,
  Params,
  TokenCookie,
} from '../operations/operation.js'
import type { AuthEvent } from '../ports/auth-event.js'
import type { Clock } from '../ports/clock.js'
import type { Logger } from '../ports/logger.js'
import type { Surface } from '../ports/surface.js'
import type { Ended, Tracing } from '../ports/tracing.js'
import { type ClientIp, limitSubject } from './client-ip.js'
import {
  type CookiePolicy,
  clearCookie,
  cookieName,
  readCookie,
  type SameSite,
  setCookie,
} from './cookies.js'
import { deprecationHeaders } from './deprecation-headers.js'
import type { ExchangeBody, ExchangeReply, ExchangeRequest } from './exchange.js'
import type { Match } from './match.js'
import { isNavigation, isOriginAllowed } from './origin.js'
import { commonHeaders, problemReply, validatorReply } from './problem.js'
import { limitByAddress, limitByUser } from './rate-class.js'
import { refusalEvents, type Visitor } from './refusal-events.js'
import { readBody, receiveBody } from './request-body.js'
import { readQuery } from './request-query.js'
import { userAgentOf } from './user-agent.js'

/** One surface's way from a request to a reply. */
export interface Pipeline {
  /** `match` is what the path and method were found to be. Never rejects: whatever goes wrong is a problem body. */
  run(request: ExchangeRequest, match: Match): Promise<ExchangeReply>
}

export interface PipelineDeps {
  readonly surface: Surface
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
 * (or a foreign bearer on a public route), user limit, permission, step-up, what the path names,
 * query and body, handler. The body is received before the bearer is judged, and looked at in its
 * turn: who sends it slowly must not act on what held when they began.
 */
export function createPipeline(deps: PipelineDeps): Pipeline {
  const { surface, services, tracing } = deps
  const refusals = refusalEvents(deps)

  async function run(request: ExchangeRequest, match: Match): Promise<ExchangeReply> {
    if (match.kind !== 'operation') return refuseRoute(request, match)
    const { operation, params } = match
    const { reply } = await tracing.operation(surface, operation.id, () =>
      handle(operation, request, params),
    )
    return operation.deprecated ? withDeprecation(reply, operation) : reply
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
    const isRead = operation.method === 'GET' && operation.status !== 302
    if (isRead && !operation.usesRefreshCookie) return null
    return (await services.settings()).cookieSameSite
  }

  /** A genuine token of the other surface is told so even where there is no route. */
  async function refuseRoute(
    request: ExchangeRequest,
    match: Exclude<Match, { kind: 'operation' }>,
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
    const visitor: Visitor = { source: { ip, userAgent: userAgentOf(request) }, userId: null }
    try {
      return await admitAndServe(operation, request, params, visitor)
    } catch (error) {
      refusals.emitRefusal(operation.id, error, visitor)
      throw error
    }
  }

  async function admitAndServe(
    operation: Operation,
    request: ExchangeRequest,
    params: Params,
    visitor: Visitor,
  ): Promise<Answer<unknown>> {
    const { source } = visitor
    const address = limitSubject(source.ip)
    await limitByAddress(operation.limit, address, surface, services)
    checkOrigin(operation, request)
    const received: Received = { request, body: await receiveBody(request, operation) }

    const common = {
      source,
      address,
      refreshCookie: cookieOf(request, 'refresh'),
      deviceCookie: cookieOf(request, 'device'),
      flowCookies: {
        query: cookieOf(request, 'oauth'),
        form_post: cookieOf(request, 'oauth_form'),
      },
      tokenDelivery: operation.choosesDelivery ? deliveryOf(request) : 'cookie',
      params,
    }
    if (operation.access === 'public') {
      const isIgnored = operation.bearer === 'ignored'
      const authorization = isIgnored ? undefined : request.header('authorization')
      const bearer = await services.access.peek(authorization)
      visitor.userId = bearer?.sub ?? null
      await limitByUser(operation.limit, bearer?.sub ?? address, services)
      const input = readInput(received, operation)
      return operation.handle({ ...input, ...common, bearer }, services)
    }
    if (operation.access === 'enrolling' && request.header('authorization') === undefined) {
      // Whose ticket it is nobody knows yet.
      await limitByUser(operation.limit, address, services)
      return serveTicket(operation, received, { ...common, bearer: null })
    }
    const principal = await services.access.authenticate(request.header('authorization'))
    visitor.userId = principal.userId
    await limitByUser(operation.limit, principal.userId, services)
    const call = { ...common, bearer: principal.claims }
    return operation.access === 'admin'
      ? serveAdmin(operation, received, principal, call)
      : serveSignedIn(operation, received, principal, call)
  }

  /** Whose it is and what it is good for, the handler finds out: the ticket is in the body. */
  async function serveTicket(
    operation: EnrollingOperation,
    received: Received,
    call: Omit<Call<unknown>, keyof Input>,
  ): Promise<Answer<unknown>> {
    const input = readInput(received, operation)
    const mfaToken = ticketOf(input.body)
    if (mfaToken === null) throw new AuthError('unauthorized')
    const enrollee = { kind: 'ticket', mfaToken, browserKeys: call.flowCookies } as const
    return operation.handle({ ...call, ...input, enrollee }, services)
  }

  async function serveSignedIn(
    operation: GuardedOperation | EnrollingOperation,
    received: Received,
    principal: Admitted['principal'],
    call: Omit<Call<unknown>, keyof Input>,
  ): Promise<Answer<unknown>> {
    const { sessionId } = services.access.requireHuman(principal)
    const signedIn: SignedIn = { ...(await permit(operation, principal)), sessionId }
    await requireStepUp(operation, principal)
    const input = readInput(received, operation)
    if (operation.access === 'enrolling') {
      const enrollee = { kind: 'session', who: signedIn } as const
      return operation.handle({ ...call, ...input, enrollee }, services)
    }
    return operation.handle({ ...call, ...input, ...signedIn }, services)
  }

  async function requireStepUp(
    operation: Operation,
    principal: Admitted['principal'],
  ): Promise<void> {
    const guard = operation.guards.find(({ kind }) => kind === 'stepUp')
    if (guard?.kind !== 'stepUp') return
    const maxAgeMs = guard.maxAgeMs ?? (await services.settings()).stepUpMaxAge
    await services.stepUp.require(principal, maxAgeMs)
  }

  async function serveAdmin(
    operation: AdminOperation,
    received: Received,
    principal: Admitted['principal'],
    call: Omit<Call<unknown>, keyof Input>,
  ): Promise<Answer<unknown>> {
    const admitted = await permit(operation, principal)
    await requireStepUp(operation, principal)
    const located = await operation.locate(call.params, services)
    const input = readInput(received, operation)
    return operation.handle({ ...call, ...input, ...admitted, located }, services)
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

  function checkOrigin(operation: Operation, request: ExchangeRequest): void {
    const guard = operation.guards.find(({ kind }) => kind === 'origin')
    if (guard?.kind !== 'origin') return
    if (guard.navigation && isNavigation(request)) return
    const headers = {
      origin: request.header('origin'),
      secFetchSite: request.header('sec-fetch-site'),
    }
    if (!isOriginAllowed(headers, deps.allowedOrigins)) throw new AuthError('csrf_rejected')
  }

  function cookieOf(request: ExchangeRequest, what: TokenCookie): string | null {
    return readCookie(request.header('cookie'), cookieName(deps.cookies, what))
  }

  function answer(
    operation: Operation,
    given: Answer<unknown>,
    sameSite: SameSite | null,
  ): ExchangeReply {
    const isEmpty = operation.status === 204 || operation.status === 302
    return {
      status: operation.status,
      headers: {
        ...commonHeaders,
        ...(isEmpty ? {} : { 'content-type': 'application/json; charset=utf-8' }),
        ...given.headers,
      },
      cookies: sameSite ? cookiesFor(given, sameSite) : [],
      body: isEmpty ? null : JSON.stringify(given.body),
    }
  }

  function cookiesFor(
    { refreshCookie: refresh, deviceCookie: device, flowCookie: flow }: Answer<unknown>,
    sameSite: SameSite,
  ): readonly string[] {
    const cleared = (what: TokenCookie) => clearCookie(deps.cookies, what, sameSite)
    const set = (what: TokenCookie, token: string, expiresIn: number) =>
      setCookie(deps.cookies, what, sameSite, token, expiresIn)
    const cookies: string[] = []
    if (refresh === 'clear') cookies.push(cleared('refresh'))
    else if (refresh) cookies.push(set('refresh', refresh.refreshToken, refresh.expiresIn))
    if (device === 'clear') cookies.push(cleared('device'))
    else if (device) cookies.push(set('device', device.deviceToken, device.expiresIn))
    if (flow) cookies.push(flowCookieFor(flow, sameSite))
    return cookies
  }

  /**
   * A form comes from the provider's own page, a link back from there too; and where the host's pages
   * are another site, they send it along to finish a login.
   */
  function flowCookieFor({ mode, key, expiresIn }: FlowCookie, others: SameSite): string {
    return mode === 'form_post'
      ? setCookie(deps.cookies, 'oauth_form', 'none', key, expiresIn)
      : setCookie(deps.cookies, 'oauth', others === 'none' ? 'none' : 'lax', key, expiresIn)
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
    const clears = operation.usesRefreshCookie && dead && cookieOf(request, 'refresh') !== null
    if (!clears || !sameSite) return reply
    return { ...reply, cookies: [clearCookie(deps.cookies, 'refresh', sameSite)] }
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

/** What of a request is read once it is admitted. */
type Input = Pick<Call<unknown>, 'body' | 'query'>

/** A request whose body has arrived. */
interface Received {
  readonly request: ExchangeRequest
  readonly body: ExchangeBody
}

function readInput({ request, body }: Received, operation: Operation): Input {
  return { query: readQuery(request, operation), body: readBody(request, operation, body) }
}

/** The schema of every such operation has the member, or lets it be absent. */
function ticketOf(body: unknown): string | null {
  const named = typeof body === 'object' && body !== null && 'mfaToken' in body
  return named && typeof body.mfaToken === 'string' ? body.mfaToken : null
}

function withDeprecation(reply: ExchangeReply, operation: Operation): ExchangeReply {
  return { ...reply, headers: { ...reply.headers, ...deprecationHeaders(operation) } }
}

/** As apps ask for it, which keep tokens themselves. */
function deliveryOf(request: ExchangeRequest): 'cookie' | 'body' {
  return request.header('x-token-delivery') === 'body' ? 'body' : 'cookie'
}
