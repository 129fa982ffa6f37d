import { tryAuthenticate } from '../domain/authorization/access.js'
import type { Admitted, SignedIn } from '../domain/context/principal.js'
import type { BrowserKeys } from '../domain/intents/oauth-flows.js'
import type { Enrollee } from '../domain/login/password-login.js'
import { chooseRefreshToken } from '../domain/sessions/refresh.js'
import type { SurfaceContext } from '../domain/surface/surface-context.js'
import { networkOf } from '../engine/addresses.js'
import { acceptedLanguages } from '../engine/text.js'
import {
  AuthError,
  ConfigValidationError,
  describeError,
  EarlyTokenError,
  UnknownKeyError,
} from '../errors/index.js'
import type { Answer, Call, Operation, Params, ProtectedCall } from '../operations/operation.js'
import type { Emit } from '../ports/events.js'
import type { Clock, Logger } from '../ports/host.js'
import type { Surface } from '../ports/surface.js'
import type { Ended, Tracing } from '../ports/telemetry.js'
import { type Admission, admit, askAgain, handBackRefused, nothingKnown } from './admission.js'
import type { ClientIp } from './client-ip.js'
import {
  type CookiePolicy,
  clearCookie,
  clearOthers,
  cookieOf,
  cookiesOf,
  flowKeysIn,
  hostOnly,
  type SameSite,
} from './cookies.js'
import {
  type ExchangeReply,
  type ExchangeRequest,
  isAskedByPerson,
  userAgentOf,
} from './http-message.js'
import type { InRequest } from './in-request.js'
import type { Match } from './match.js'
import { refusalEvents } from './refusal-events.js'
import {
  answerReply,
  deprecationHeaders,
  oauth2Refusal,
  problemReply,
  revalidated,
  validatorReply,
} from './reply.js'

/** One surface's way from a request to a reply. */
export interface Pipeline {
  /** `match` is what its method and path lead to. Never rejects: a failure is a problem body. */
  run(request: ExchangeRequest, match: Match): Promise<ExchangeReply>
}

export interface PipelineDeps {
  readonly surface: Surface
  readonly ctx: SurfaceContext
  readonly cookies: CookiePolicy
  readonly allowedOrigins: ReadonlySet<string>
  readonly clientIp: ClientIp
  readonly clock: Clock
  readonly emit: Emit
  readonly tracing: Tracing
  readonly logger: Logger
  readonly inRequest: InRequest
}

/** Route, admission, handler, reply: the same for every operation. */
export function createPipeline(deps: PipelineDeps): Pipeline {
  const { surface, ctx, tracing } = deps
  const hasRefreshCookie = (request: ExchangeRequest) =>
    cookiesOf(request, deps.cookies, 'refresh').some((value) => value !== '')
  const context = { ...deps, hasRefreshCookie }
  const refusals = refusalEvents(deps)

  async function run(request: ExchangeRequest, match: Match): Promise<ExchangeReply> {
    if (match.kind !== 'operation') return refuseRoute(request, match)
    const { operation, params } = match
    const { reply } = await deps.inRequest(operation.id, request, () =>
      tracing.operation(surface, operation.id, () => handle(operation, request, params)),
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
      const given = await perform(operation, request, params)
      const answered = answerReply(operation, given, deps.cookies, sameSite)
      const isSet = given.refreshCookie !== undefined
      const alone = isSet ? withoutOthers(request, answered, sameSite) : answered
      const reply = operation.revalidates ? revalidated(request, alone) : alone
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
    // An administrator must be able to correct settings that cannot be read.
    if (operation.access === 'admin') return null
    const isRead = operation.method === 'GET' && operation.status !== 302
    if (isRead && !operation.usesRefreshCookie) return null
    return (await ctx.settings()).cookieSameSite
  }

  /** A genuine token of the other surface is refused as such even where there is no route. */
  async function refuseRoute(
    request: ExchangeRequest,
    match: Exclude<Match, { kind: 'operation' }>,
  ): Promise<ExchangeReply> {
    try {
      await tryAuthenticate(ctx, request.header('authorization'))
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
    const source = { ip, userAgent: userAgentOf(request) }
    const admission: Admission = {
      ...nothingKnown,
      ...{ operation, request, params, source, address: networkOf(ip) },
    }
    try {
      await admit(admission, context)
      return await serve(admission, deps.cookies, ctx)
    } catch (error) {
      await handBackRefused(admission, error, ctx)
      refusals.emitRefusal(operation.id, error, admission)
      throw error
    }
  }

  function refuse(
    operation: Operation,
    request: ExchangeRequest,
    error: AuthError,
    sameSite: SameSite | null,
  ): ExchangeReply {
    const named = operation.oauth2 ? oauth2Refusal(request, error) : null
    const reply = named ?? problemReply(error)
    // A dead cookie is taken away; one of the other surface, or one that may be good later, stays.
    const { code, cause } = error
    const isOpen = cause instanceof UnknownKeyError || cause instanceof EarlyTokenError
    const isJudged = code !== 'audience_mismatch' && !isOpen
    const dead = error.status === 401 && isJudged
    if (!sameSite || !operation.usesRefreshCookie || !dead || !hasRefreshCookie(request))
      return reply
    const cookies = [clearCookie(deps.cookies, 'refresh', sameSite)]
    return withoutOthers(request, { ...reply, cookies }, sameSite)
  }

  /** The reply leaves one refresh cookie at most, where the request brought several. */
  function withoutOthers(
    request: ExchangeRequest,
    reply: ExchangeReply,
    sameSite: SameSite | null,
  ): ExchangeReply {
    const shown = cookiesOf(request, deps.cookies, 'refresh')
    if (sameSite === null || shown.length < 2) return reply
    return {
      ...reply,
      cookies: [...clearOthers(deps.cookies, 'refresh', sameSite), ...reply.cookies],
    }
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

function withDeprecation(reply: ExchangeReply, operation: Operation): ExchangeReply {
  return { ...reply, headers: { ...reply.headers, ...deprecationHeaders(operation) } }
}

/** Calls the handler of an admitted request with what it needs of it. */
async function serve(
  admission: Admission,
  cookies: CookiePolicy,
  ctx: SurfaceContext,
): Promise<Answer<unknown>> {
  const { operation } = admission
  const call = callOf(admission, cookies)
  switch (operation.access) {
    case 'public':
      return operation.handle(
        { ...call, ...(await refreshCookiesOf(admission, cookies, ctx)) },
        ctx,
      )
    case 'enrolling': {
      const enrollee = enrolleeOf(admission, call.flowCookies)
      return operation.handle({ ...call, enrollee }, ctx)
    }
    case 'guarded': {
      const readAhead = async () => admission.readAhead?.own
      return operation.handle({ ...call, ...signedInOf(admission), readAhead }, ctx)
    }
    case 'admin': {
      const { located } = admission
      const again = (when?: 'late') => askAgain(admission, ctx, when)
      const admitted = { ...admittedOf(admission), located, askAgain: again }
      return operation.handle({ ...call, ...admitted }, ctx)
    }
  }
}

/** Where the operation goes by one cookie, it gets none of several that cannot be told apart. */
async function refreshCookiesOf(
  { operation, request }: Admission,
  policy: CookiePolicy,
  ctx: SurfaceContext,
): Promise<Pick<Call<unknown>, 'refreshCookie' | 'refreshCookies'>> {
  const { usesRefreshCookie: use } = operation
  const shown = use ? cookiesOf(request, policy, 'refresh').filter((value) => value !== '') : []
  if (use === 'each') return { refreshCookie: null, refreshCookies: shown }
  const refreshCookie = shown.length > 1 ? await chooseRefreshToken(ctx, shown) : (shown[0] ?? null)
  return { refreshCookie, refreshCookies: [] }
}

function callOf(admission: Admission, policy: CookiePolicy): ProtectedCall<unknown> {
  const { operation, request, source, address, bearer, params, input } = admission
  return {
    ...(input ?? { body: undefined, query: {} }),
    source,
    languages: () => acceptedLanguages(request.header('accept-language') ?? ''),
    address,
    deviceCookie: cookieOf(request, policy, 'device'),
    registrationCookie: cookieOf(request, hostOnly(policy), 'registration'),
    recognitionCookie: cookieOf(request, hostOnly(policy), 'recognition'),
    isAskedByPerson: () => isAskedByPerson(request),
    flowCookies: flowKeysIn(request, hostOnly(policy)),
    tokenDelivery: operation.choosesDelivery ? deliveryOf(request) : 'cookie',
    bearer,
    params,
    authorization: operation.oauth2 ? request.header('authorization') : undefined,
  }
}

/** As apps ask for it, which keep tokens themselves. */
function deliveryOf(request: ExchangeRequest): 'cookie' | 'body' {
  return request.header('x-token-delivery') === 'body' ? 'body' : 'cookie'
}

function enrolleeOf(admission: Admission, browserKeys: BrowserKeys): Enrollee {
  const { ticket: mfaToken } = admission
  return mfaToken === null
    ? { kind: 'session', who: signedInOf(admission) }
    : { kind: 'ticket', mfaToken, browserKeys }
}

function signedInOf(admission: Admission): SignedIn {
  const { sessionId } = admission
  if (sessionId === null) throw new Error(`${admission.operation.id} was reached without a session`)
  return { ...admittedOf(admission), sessionId }
}

/** The steps before leave neither out; should one be taken away, nothing is served. */
function admittedOf({ operation, principal, user }: Admission): Admitted {
  if (principal === null || user === null) {
    throw new Error(`${operation.id} was reached without a permission`)
  }
  return { principal, user }
}
