import type { AccessClaims } from '../crypto/token-format.js'
import {
  authenticateBeside,
  isFreshPrincipal,
  readUserAhead,
  requireHuman,
  requirePermission,
  requirePermissionAgain,
  tryAuthenticate,
} from '../domain/authorization/access.js'
import type { Admitted } from '../domain/context/actor.js'
import { requireStepUp } from '../domain/factors/step-up.js'
import type { AddressLimitName, SessionLimitName } from '../domain/limits/rate-limiter.js'
import type { SurfaceContext } from '../domain/surface/surface-context.js'
import { settingsFor } from '../engine/surface-settings.js'
import { AuthError, describeError } from '../errors/index.js'
import type { User } from '../model/user.js'
import type {
  AddressClass,
  Call,
  Operation,
  Params,
  SessionClass,
} from '../operations/operation.js'
import type { Untimed } from '../ports/telemetry.js'
import {
  type IncomingRequest,
  isNavigation,
  isOriginAllowed,
  isPrefetch,
} from './incoming-request.js'
import { type ReceivedBody, readBody, readQuery, receiveBody } from './request-input.js'

/** What was begun beside the denylist. What it fails with counts where it is awaited. */
interface ReadAhead {
  /** The account's record. */
  readonly user: Promise<User | null>
  /** What the operation itself reads ahead; null where it reads nothing. */
  readonly own: Promise<unknown> | null
}

/** One request on its way through the steps, and what they have found out so far. */
export interface Admission {
  readonly operation: Operation
  readonly request: IncomingRequest
  readonly params: Params
  /** What it brings that may be a refresh token, where the operation goes by one. */
  readonly refreshCookies: readonly string[]
  /** The body as it came. Null until it has arrived. */
  received: ReceivedBody | null
  /** The account of the access token. Null until the token is known, and without one. */
  userId: string | null
  /** The claims of the access token. Null without one. */
  bearer: AccessClaims | null
  /** Null on a public operation, and for a request with a ticket in place of an access token. */
  principal: Admitted['principal'] | null
  /** Null where no person with a session is asked for. */
  sessionId: string | null
  /** Null without an access token. */
  readAhead: ReadAhead | null
  /** The account's record, once the permission was granted. */
  user: Admitted['user'] | null
  /** What an administrative operation's path names. */
  located: unknown
  /** Query and body, which are parsed once the sender is admitted. */
  input: Pick<Call<unknown>, 'body' | 'query'> | null
  /** The ticket of a login that lacks a factor, where it takes the place of an access token. */
  ticket: string | null
}

/** Before the first step. */
export const nothingKnown = {
  received: null,
  userId: null,
  bearer: null,
  principal: null,
  sessionId: null,
  readAhead: null,
  user: null,
  located: null,
  input: null,
  ticket: null,
} as const satisfies Partial<Admission>

/** What the steps of a surface work with. */
export interface AdmissionContext {
  readonly ctx: SurfaceContext
  readonly allowedOrigins: ReadonlySet<string>
  readonly untimed: Untimed
}

/**
 * One decision about a request: it throws the refusal, counts what is to be counted, and notes what later steps need.
 */
type Step = (admission: Admission, context: AdmissionContext) => Promise<void> | void

/** What every request of a surface is judged by, the same for every operation: the first refusal wins. */
const steps: readonly Step[] = [
  askedNow,
  addressLimit,
  originCheck,
  bodyArrival,
  caller,
  sessionLimit,
  humanSession,
  permission,
  stepUp,
  target,
  inputForm,
  ticket,
]

/**
 * Takes a request through the steps, top to bottom; throws the first refusal. Each step reads only after
 * the steps above it: a request that they refuse must not have cost the store what lies below. Only what
 * every caller of an operation needs is read earlier, beside the denylist.
 */
export async function admit(admission: Admission, context: AdmissionContext): Promise<void> {
  for (const step of steps) await step(admission, context)
}

/**
 * The limit of each class. Logins have a live setting. `logout` counts by itself, and only
 * if no credential in it verifies: an owner must get out whatever other callers at their address do.
 */
const perIp: Readonly<Record<AddressClass, AddressLimitName | null>> = {
  register: 'registerPerIp',
  login: null,
  recovery: 'recoveryPerIp',
  confirm: 'confirmPerIp',
  refresh: 'refreshPerIp',
  oauth: 'oauthPerIp',
  mfa: 'mfaPerIp',
  grant: 'grantPerIp',
  jwks: 'jwksPerIp',
  options: 'optionsPerIp',
  logout: null,
}

/** Whether the reply is wanted now. A browser that is refused ahead asks again when the person goes there. */
function askedNow({ operation, request }: Admission): void {
  if (!operation.forPages || !isPrefetch(request.headers)) return
  const detail = 'This cannot be fetched ahead: it is done when a person goes there.'
  throw new AuthError('service_unavailable', { detail })
}

/** Whether the address may ask once more; counted before anything else is looked at. */
async function addressLimit(admission: Admission, { ctx }: AdmissionContext): Promise<void> {
  const { operation, request } = admission
  const { address } = request
  const { limits, settings, surface } = ctx
  if (operation.limit === 'login') {
    const { loginRate } = settingsFor(surface, await settings())
    await limits.checkWith('loginPerIp', address, { limit: loginRate, windowMs: 60_000 })
  }
  const limitClass = hasNothingToRefresh(admission) ? null : addressClassOf(admission)
  const name = limitClass === null ? null : perIp[limitClass]
  if (name !== null) await limits.check(name, address)
}

/**
 * A page asks for a session at every load, also where no user is signed in. Such a request reads nothing, and many visitors
 * behind one address must not use up the refreshes of those who are signed in.
 */
function hasNothingToRefresh({ operation, refreshCookies }: Admission): boolean {
  const isRefresh = operation.limit === 'refresh' && operation.usesRefreshCookie !== undefined
  return isRefresh && refreshCookies.length === 0
}

/** Null where an access token is asked for: its session is counted once it is known. */
function addressClassOf({ operation, request }: Admission): AddressClass | null {
  if (operation.access === 'public') return operation.limit
  const hasTicket = operation.access === 'enrolling' && request.headers.authorization === undefined
  return hasTicket ? operation.limit : null
}

/** Whether a request that a cookie authenticates comes from a page that may send it. */
function originCheck({ operation, request }: Admission, { allowedOrigins }: AdmissionContext) {
  const guard = operation.guards.find(({ kind }) => kind === 'origin')
  if (guard?.kind !== 'origin') return
  if (guard.navigation && isNavigation(request.headers)) return
  if (!isOriginAllowed(request.headers, allowedOrigins)) throw new AuthError('csrf_rejected')
}

/**
 * Waits for the body, and looks at nothing in it. It stands before the caller is judged: a sender
 * that is slow on purpose must not act on permissions that held when the request began.
 */
async function bodyArrival(
  admission: Admission,
  { ctx, untimed }: AdmissionContext,
): Promise<void> {
  const { request, operation } = admission
  try {
    admission.received = await untimed(() => receiveBody(request, operation))
  } catch (error) {
    // Clients give up every day, which is no error of this process.
    const cause = error instanceof AuthError ? (error.cause ?? error) : error
    ctx.logger.debug('a request body broke off', {
      operation: operation.id,
      ...describeError(cause),
    })
    throw error
  }
}

/**
 * The account that the access token speaks for. A public operation asks for no token, and still
 * refuses one of the other surface; an enrolling one takes a ticket in its place. Its record is read
 * beside the denylist, and judged where the permission is.
 */
async function caller(admission: Admission, { ctx }: AdmissionContext): Promise<void> {
  const { operation, request } = admission
  const { authorization } = request.headers
  if (operation.access === 'public') {
    const isIgnored = operation.bearer === 'ignored'
    admission.bearer = await tryAuthenticate(ctx, isIgnored ? undefined : authorization)
    admission.userId = admission.bearer?.sub ?? null
    return
  }
  if (operation.access === 'enrolling' && authorization === undefined) return
  const { principal, beside } = await authenticateBeside(ctx, authorization, (userId) =>
    readAheadOf(operation, userId, ctx),
  )
  admission.readAhead = beside
  admission.bearer = principal.claims
  admission.principal = principal
  admission.userId = principal.userId
}

/** All that is known to be needed of an account once its token is genuine. */
function readAheadOf(operation: Operation, userId: string, ctx: SurfaceContext): ReadAhead {
  const user = readUserAhead(ctx, userId)
  const own = (operation.access === 'guarded' && operation.readAhead?.(userId, ctx)) || null
  // Its failure counts where the operation asks for it.
  own?.catch(() => {})
  return { user, own }
}

const perSession: Readonly<Record<SessionClass, SessionLimitName>> = {
  self: 'selfPerSession',
  change: 'changePerSession',
  ending: 'endingPerSession',
  mfa: 'mfaPerSession',
  admin: 'adminPerSession',
}

/** Whether the session may ask once more, and its account with all its sessions together. */
async function sessionLimit(
  { operation, principal }: Admission,
  { ctx }: AdmissionContext,
): Promise<void> {
  if (operation.access === 'public' || principal === null) return
  await ctx.limits.checkSession(perSession[operation.limit], principal)
}

/** Whether the caller is a person with a session; most of administration is open to machines as well. */
function humanSession(admission: Admission): void {
  const { operation, principal } = admission
  if (principal === null || operation.guards.some(({ kind }) => kind === 'principal')) return
  admission.sessionId = requireHuman(principal).sessionId
}

/** Whether the authorizer allows it; the account's record is read for that. */
async function permission(admission: Admission, { ctx }: AdmissionContext): Promise<void> {
  const { operation, principal, readAhead } = admission
  if (principal === null) return
  const key = permissionOf(operation)
  admission.user = await requirePermission(ctx, principal, key, undefined, readAhead?.user)
}

/** Throws where the guards name none: every signed-in account could call such an operation. */
function permissionOf({ id, guards }: Operation): string {
  const guard = guards.find(({ kind }) => kind === 'permission')
  if (guard?.kind !== 'permission') throw new Error(`${id} names no permission`)
  return guard.key
}

/** Whether the session showed a second factor recently enough. */
async function stepUp(
  { operation, principal }: Admission,
  { ctx }: { readonly ctx: SurfaceContext },
): Promise<void> {
  if (principal === null) return
  const guard = operation.guards.find(({ kind }) => kind === 'stepUp')
  if (guard?.kind !== 'stepUp') return
  // A service account can show no factor: the operator who got its secret was asked for one.
  const isAsked = guard.where === undefined || (ctx.adminStepUp && principal.kind === '')
  if (!isAsked) return
  const maxAgeMs = guard.maxAgeMs ?? (await ctx.settings()).stepUpMaxAge
  await requireStepUp(ctx, principal, maxAgeMs)
}

/** Whether there is what the path of an administrative operation names. */
async function target(admission: Admission, { ctx }: AdmissionContext): Promise<void> {
  const { operation, params } = admission
  if (operation.access === 'admin') admission.located = await operation.locate(params, ctx)
}

/** Whether query and body have the form that the operation declares. */
function inputForm(admission: Admission): void {
  const { operation, request, received } = admission
  if (operation.oauth2) refuseCredentials(request.query)
  const query = readQuery(request, operation)
  const body = readBody(request, operation, received ?? { kind: 'empty' })
  admission.input = { query, body }
}

const credentials = ['client_id', 'client_secret', 'client_assertion']

/** A query is written to logs: what authenticates a client must not be in one (RFC 6749 §2.3.1). */
function refuseCredentials(query: string): void {
  const named = new URLSearchParams(query)
  if (!credentials.some((name) => named.has(name))) return
  throw new AuthError('invalid_request', { detail: 'Credentials do not belong into the query.' })
}

/**
 * Whether an enrolling request without an access token names a ticket. The handler finds out whose
 * it is and what it is good for.
 */
function ticket(admission: Admission): void {
  const { operation, principal, input } = admission
  if (operation.access !== 'enrolling' || principal !== null) return
  admission.ticket = ticketIn(input?.body)
  if (admission.ticket === null) throw new AuthError('unauthorized')
}

/** The schema of each such operation has the member, or lets it be absent. */
function ticketIn(body: unknown): string | null {
  const named = typeof body === 'object' && body !== null && 'mfaToken' in body
  return named && typeof body.mfaToken === 'string' ? body.mfaToken : null
}

/**
 * Asks once more what let the request of an administrator in: token, session, permission, second factor. Call it
 * before a write that had to wait, since each of them may have ended meanwhile. With `late`, it asks only where the
 * request was let in more than a second ago: the guards of a route follow one another that fast as well. Throws as the
 * guards do.
 */
export async function askAgain(
  admission: Admission,
  ctx: SurfaceContext,
  when?: 'late',
): Promise<void> {
  const { operation, principal } = admission
  if (principal === null) throw new Error(`${operation.id} was reached without a principal`)
  if (when === 'late' && isFreshPrincipal(ctx, principal)) return
  await requirePermissionAgain(ctx, principal, permissionOf(operation))
  await stepUp(admission, { ctx })
}

/**
 * A registration whose password the rules refuse does not count for its address: it made nothing, people need a few tries,
 * and a class or an office shares one address. One that is refused as breached counts: another service was asked for it.
 */
export async function handBackRefused(
  { operation, request }: Admission,
  error: unknown,
  { limits }: Pick<SurfaceContext, 'limits'>,
): Promise<void> {
  if (operation.limit !== 'register' || !(error instanceof AuthError)) return
  const { violations } = error
  if (violations !== null && !violations.includes('breached')) {
    await limits.forgive('registerPerIp', request.address, 1)
  }
}
