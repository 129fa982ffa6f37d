import { tryAuthenticate } from '../domain/authorization/access.js'
import type { Admitted, SignedIn } from '../domain/context/actor.js'
import type { BrowserKeys } from '../domain/intents/oauth-flows.js'
import type { Enrollee } from '../domain/login/password-login.js'
import { chooseRefreshToken } from '../domain/sessions/refresh.js'
import type { SurfaceContext } from '../domain/surface/surface-context.js'
import { withQuery } from '../engine/addresses.js'
import { acceptedLanguages } from '../engine/text.js'
import {
  AuthError,
  ConfigValidationError,
  describeError,
  EarlyTokenError,
  UnknownKeyError,
  WaysideError,
} from '../errors/index.js'
import type { Answer, Call, Operation, Params, ProtectedCall } from '../operations/operation.js'
import type { Ended, InRequest, RequestIdHeader, Tracing, Untimed } from '../ports/telemetry.js'
import { type Admission, admit, askAgain, handBackRefused, nothingKnown } from './admission.js'
import {
  type CookiePolicy,
  clearCookie,
  clearOthers,
  cookieNames,
  flowKeysIn,
  fullCookies,
  markerCookie,
  onlyCookie,
  type SameSite,
} from './cookies.js'
import type { ExchangeReply } from './http-message.js'
import {
  type IncomingRequest,
  isAskedByPerson,
  isPageLoad,
  isPrefetch,
} from './incoming-request.js'
import type { Match } from './match.js'
import { refusalEvents } from './refusal-events.js'
import {
  answerReply,
  deprecationHeaders,
  oauth2Refusal,
  onwardReply,
  problemReply,
  revalidated,
  validatorReply,
} from './reply.js'

/** One surface's way from a request to a reply. */
export interface Pipeline {
  /** `match` is what its method and path lead to. Never rejects: a failure is a problem body. */
  run(request: IncomingRequest, match: Match): Promise<ExchangeReply>
}

export interface PipelineDeps {
  readonly ctx: SurfaceContext
  readonly cookies: CookiePolicy
  readonly allowedOrigins: ReadonlySet<string>
  readonly tracing: Tracing
  readonly inRequest: InRequest
  readonly untimed: Untimed
}

/** Route, admission, handler, reply: the same for every operation. */
export function createPipeline(deps: PipelineDeps): Pipeline {
  const { ctx, tracing } = deps
  const names = cookieNames(deps.cookies)
  const refusals = refusalEvents(ctx)

  async function run(request: IncomingRequest, match: Match): Promise<ExchangeReply> {
    if (match.kind !== 'operation') return refuseRoute(request, match)
    const { operation, params } = match
    const head = { header: (name: RequestIdHeader) => request.headers[name] }
    const { reply } = await deps.inRequest(operation.id, head, () =>
      tracing.operation(ctx.surface, operation.id, () => handle(operation, request, params)),
    )
    return operation.deprecated ? withDeprecation(reply, operation) : reply
  }

  async function handle(
    operation: Operation,
    request: IncomingRequest,
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
    } catch (thrown) {
      const { cause, location } = apartFromWay(thrown)
      if (cause instanceof ConfigValidationError) {
        // Its own code may be anything, and labels are of a closed list.
        return { reply: validatorReply(cause), status: 422, code: null }
      }
      const error = toAuthError(cause, operation)
      const reply =
        onward(operation, request, error, location) ?? refuse(operation, request, error, sameSite)
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
    request: IncomingRequest,
    match: Exclude<Match, { kind: 'operation' }>,
  ): Promise<ExchangeReply> {
    try {
      await tryAuthenticate(ctx, request.headers.authorization)
    } catch (error) {
      return problemReply(toAuthError(error, null))
    }
    if (match.kind === 'none') return problemReply(new AuthError('not_found'))
    const allow = { allow: match.allow.join(', ') }
    return problemReply(new AuthError('method_not_allowed'), allow)
  }

  async function perform(
    operation: Operation,
    request: IncomingRequest,
    params: Params,
  ): Promise<Answer<unknown>> {
    const refreshCookies = operation.cookies?.reads?.includes('refresh')
      ? fullCookies(request.cookies, names.refresh)
      : []
    const admission: Admission = { ...nothingKnown, operation, request, params, refreshCookies }
    try {
      await admit(admission, deps)
      return await serve(admission, names, ctx)
    } catch (error) {
      await handBackRefused(admission, error, ctx)
      const { userId } = admission
      refusals.emitRefusal(operation.id, apartFromWay(error).cause, {
        source: request.source,
        userId,
      })
      throw error
    }
  }

  /** Null for what no person sees, and for the token of the other surface, which no page load brings. */
  function onward(
    { forPages }: Operation,
    { headers }: IncomingRequest,
    { code }: AuthError,
    location: string | null,
  ): ExchangeReply | null {
    if (!forPages || code === 'audience_mismatch') return null
    if (!isPageLoad(headers) || isPrefetch(headers)) return null
    return onwardReply(location ?? withQuery(ctx.links.login, { error: code }))
  }

  function refuse(
    operation: Operation,
    request: IncomingRequest,
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
    if (!sameSite || !operation.usesRefreshCookie || !dead) return reply
    const isShown = fullCookies(request.cookies, names.refresh).length > 0
    if (!isShown && !request.cookies.has(names.marker)) return reply
    const marker = markerCookie(deps.cookies, sameSite, 0)
    const cookies = isShown ? [clearCookie(deps.cookies, 'refresh', sameSite), marker] : [marker]
    return withoutOthers(request, { ...reply, cookies }, sameSite)
  }

  /** The reply leaves one refresh cookie at most, where the request brought several. */
  function withoutOthers(
    request: IncomingRequest,
    reply: ExchangeReply,
    sameSite: SameSite | null,
  ): ExchangeReply {
    const shown = request.cookies.get(names.refresh) ?? []
    if (sameSite === null || shown.length < 2) return reply
    return {
      ...reply,
      cookies: [
        ...clearOthers(deps.cookies, 'refresh', sameSite),
        ...clearOthers({ ...deps.cookies, path: '/' }, 'signed_in', sameSite),
        ...reply.cookies,
      ],
    }
  }

  function toAuthError(error: unknown, operation: Operation | null): AuthError {
    if (!(error instanceof AuthError)) {
      const fields = { operation: operation?.id, ...describeError(error) }
      ctx.logger.error('a request failed unexpectedly', fields)
      return new AuthError('internal_error')
    }
    const isSession = operation?.errors.includes('session_enforcement_unavailable') ?? false
    return isSession && error.code === 'service_unavailable'
      ? new AuthError('session_enforcement_unavailable', { cause: error })
      : error
  }

  return { run }
}

/** An error, and where a person goes on who sees it; null where the way is not known. */
function apartFromWay(thrown: unknown) {
  return thrown instanceof WaysideError
    ? { cause: thrown.cause, location: thrown.location }
    : { cause: thrown, location: null }
}

function withDeprecation(reply: ExchangeReply, operation: Operation): ExchangeReply {
  return { ...reply, headers: { ...reply.headers, ...deprecationHeaders(operation) } }
}

type CookieNames = ReturnType<typeof cookieNames>

/** Calls the handler of an admitted request with what it needs of it. */
async function serve(
  admission: Admission,
  names: CookieNames,
  ctx: SurfaceContext,
): Promise<Answer<unknown>> {
  const { operation } = admission
  const call = callOf(admission, names)
  switch (operation.access) {
    case 'public':
      return operation.handle({ ...call, ...(await refreshCookiesOf(admission, ctx)) }, ctx)
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
  { operation, refreshCookies: shown }: Admission,
  ctx: SurfaceContext,
): Promise<Pick<Call<unknown>, 'refreshCookie' | 'refreshCookies'>> {
  if (operation.usesRefreshCookie !== 'one') return { refreshCookie: null, refreshCookies: shown }
  const refreshCookie = shown.length > 1 ? await chooseRefreshToken(ctx, shown) : (shown[0] ?? null)
  return { refreshCookie, refreshCookies: [] }
}

function callOf(admission: Admission, names: CookieNames): ProtectedCall<unknown> {
  const { operation, request, bearer, params, input } = admission
  const { headers, cookies, source, address } = request
  // As apps ask for it, which keep tokens themselves.
  const isForApp = operation.choosesDelivery && headers['x-token-delivery'] === 'body'
  return {
    ...(input ?? { body: undefined, query: {} }),
    source,
    languages: () => acceptedLanguages(headers['accept-language'] ?? ''),
    address,
    deviceCookie: onlyCookie(cookies, names.device),
    registrationCookie: onlyCookie(cookies, names.registration),
    recognitionCookie: onlyCookie(cookies, names.recognition),
    signInCookie: onlyCookie(cookies, names.signIn),
    isAskedByPerson: () => isAskedByPerson(headers),
    flowCookies: flowKeysIn(cookies, names.flows),
    tokenDelivery: isForApp ? 'body' : 'cookie',
    bearer,
    params,
    authorization: operation.oauth2 ? headers.authorization : undefined,
  }
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
