import { startEarly, withTimeout } from '../../concurrency/promises.js'
import type { VerifiedToken } from '../../crypto/memos.js'
import type { AccessClaims } from '../../crypto/token-format.js'
import { isTenantId } from '../../engine/accounts.js'
import { AuthError, describeError } from '../../errors/index.js'
import { isHuman, type User } from '../../model/user.js'
import type { DenylistEntry } from '../../ports/backend.js'
import type { PermissionQuestion } from '../../ports/host.js'
import type { Principal } from '../context/actor.js'
import { entryInForce, sessionDenylistId, tokenDenylistId } from '../context/open-collections.js'
import { stepUpProofAge } from '../factors/step-up.js'
import { isKeyInForce, type Judged, verifyAccess } from '../sessions/tokens.js'
import type { SurfaceContext } from '../surface/surface-context.js'

// The checks in front of guarded routes, each throwing the code it refuses with.

/** How long the authorizer may think. */
const authorizerTimeoutMs = 2000

/** The guards of one route follow one another sooner, and ask the denylist once. */
const freshMs = 1000

function verify(
  ctx: SurfaceContext,
  token: string,
): Judged<AccessClaims> | Promise<Judged<AccessClaims>> {
  try {
    const judged = verifyAccess(ctx, token)
    return judged instanceof Promise ? judged.catch(refuseUnread) : judged
  } catch (cause) {
    return refuseUnread(cause)
  }
}

/** A promise only where the denylist has to be waited for. */
function refuseListed(ctx: SurfaceContext, claims: AccessClaims): void | Promise<void> {
  const ids = [tokenDenylistId(ctx.surface, claims.jti)]
  if (claims.sid !== undefined) ids.push(sessionDenylistId(ctx.surface, claims.sid))
  const asked = ctx.denylist.find(ids)
  if (asked.atOnce !== undefined) return refuseOne(ctx, asked.atOnce.value, ids)
  return asked.then((entries) => refuseOne(ctx, entries, ids), refuseUnread)
}

function refuseOne(
  ctx: SurfaceContext,
  entries: readonly DenylistEntry[],
  ids: readonly string[],
): void {
  if (entries.length === 0) return
  const entry = entryInForce(entries, ids, ctx.clock.now())
  if (entry === null) return
  throw new AuthError(entry.reason === 'max_age' ? 'session_max_age_reached' : 'session_revoked')
}

async function ask(
  ctx: SurfaceContext,
  { kind, sessionId }: Principal,
  user: User,
  { permission, tenantId }: Pick<PermissionQuestion, 'permission' | 'tenantId'>,
): Promise<boolean> {
  try {
    const answer: unknown = await withTimeout(
      ctx.authorizer.check({
        surface: ctx.surface,
        userId: user.id,
        kind,
        systemRole: user.systemRole,
        memberships: user.memberships,
        tenantId,
        permission,
        sessionId,
        proofAge: async () =>
          kind === '' && sessionId !== null ? stepUpProofAge(ctx, user, sessionId) : null,
      }),
      authorizerTimeoutMs,
      ctx.clock,
    )
    return answer === true || allows(answer)
  } catch (cause) {
    ctx.logger.error('the authorizer failed', describeError(cause))
    throw new AuthError('authorization_unavailable', { cause })
  }
}

/** A promise only where the key ring has to be read first: each promise costs a guarded request dearly. */
function genuine(
  ctx: SurfaceContext,
  authorization: string | undefined,
): VerifiedToken | Promise<VerifiedToken> {
  const token = bearerToken(authorization)
  if (token === null) throw new AuthError('unauthorized')
  const judged = verify(ctx, token)
  return judged instanceof Promise ? judged.then(verifiedOf) : verifiedOf(judged)
}

/** Whether it was found to be good within the last second. */
export function isFreshPrincipal(ctx: SurfaceContext, principal: Principal): boolean {
  const since = ctx.clock.now() - ctx.memory.principals.goodAt(principal)
  return since >= 0 && since <= freshMs
}

/**
 * Asks again for a principal that was admitted more than a second ago: expiry, then whether the key that signed is
 * still in force, then the denylist, as `authenticate` does. A caller can hold up the rest of a request, and a connection lives for long, so the
 * earlier answer may be out of date. At once, and throwing at once, where nothing has to be waited for.
 */
export function recheckPrincipal(ctx: SurfaceContext, principal: Principal): void | Promise<void> {
  if (isFreshPrincipal(ctx, principal)) return
  const now = ctx.clock.now()
  const { claims } = principal
  if (claims.exp + ctx.clockLeeway <= now / 1000) throw new AuthError('unauthorized')
  const kid = ctx.memory.principals.kidOf(principal)
  const isInForce = kid === null || isKeyInForce(ctx, kid)
  const judged =
    isInForce instanceof Promise
      ? isInForce.then((is) => refuseReplaced(ctx, is, claims), refuseUnread)
      : refuseReplaced(ctx, isInForce, claims)
  if (judged === undefined) return ctx.memory.principals.note(principal, now)
  return judged.then(() => ctx.memory.principals.note(principal, now))
}

function refuseReplaced(
  ctx: SurfaceContext,
  isKeyInForce: boolean,
  claims: AccessClaims,
): void | Promise<void> {
  if (!isKeyInForce) throw new AuthError('unauthorized')
  return refuseListed(ctx, claims)
}

function letIn(ctx: SurfaceContext, verified: VerifiedToken) {
  return ctx.memory.principals.letIn(verified, ctx.clock.now())
}

function unlisted(ctx: SurfaceContext, verified: VerifiedToken): Principal | Promise<Principal> {
  const judged = refuseListed(ctx, verified.claims)
  return judged === undefined ? letIn(ctx, verified) : judged.then(() => letIn(ctx, verified))
}

/** Begins to read an account for `requirePermission`. If the read fails, the failure counts there. */
export function readUserAhead(ctx: SurfaceContext, userId: string): Promise<User | null> {
  return startEarly(ctx.collections.users.get(userId))
}

/**
 * Rechecks the principal, reads the user afresh and asks the authorizer. Throws 403 or 503, or what
 * `recheckPrincipal` throws; resolves only on "allow".
 * Without `of`, no tenant is meant; a malformed `tenantId` is refused, never read as no tenant. `read` is
 * what `readUserAhead` gave within this request, if the caller began the read.
 */
export async function requirePermission(
  ctx: SurfaceContext,
  principal: Principal,
  permission: string,
  of?: { readonly tenantId: unknown },
  read?: Promise<User | null>,
): Promise<User> {
  const tenantId = of === undefined ? null : tenantOf(of)
  const asked = recheckPrincipal(ctx, principal)
  if (asked !== undefined) void startEarly(asked)
  const reading = read ?? readUserAhead(ctx, principal.userId)
  if (asked !== undefined) await asked
  const user = await reading
  const isOfKind = user !== null && isHuman(user) === isHuman(principal)
  if (!isOfKind || !user.enabled) throw new AuthError('permission_denied')
  const question = { permission, tenantId }
  if (!(await ask(ctx, principal, user, question))) throw new AuthError('permission_denied')
  return user
}

/**
 * The principal of the `Authorization` header: signature, type and issuer, then audience, then
 * expiry, then the denylist. Reads no cookie, no session and no user. At once, and throwing at once, where
 * neither keys nor denylist have to be waited for.
 */
export function authenticate(
  ctx: SurfaceContext,
  authorization: string | undefined,
): Principal | Promise<Principal> {
  const shown = genuine(ctx, authorization)
  return shown instanceof Promise
    ? shown.then((verified) => unlisted(ctx, verified))
    : unlisted(ctx, shown)
}

/**
 * The same. `beside` is begun once the token is known to be genuine, while the denylist is asked: it may
 * read, and nothing may come of it before this resolves.
 */
export async function authenticateBeside<T>(
  ctx: SurfaceContext,
  authorization: string | undefined,
  beside: (userId: string) => T,
): Promise<{ readonly principal: Principal; readonly beside: T }> {
  const shown = genuine(ctx, authorization)
  const verified = shown instanceof Promise ? await shown : shown
  const { claims } = verified
  const judged = refuseListed(ctx, claims)
  if (judged !== undefined) void startEarly(judged)
  const begun = beside(claims.sub)
  // First of all, and whatever became of the other reads: their failure is no answer to a token
  // whose session has ended.
  if (judged !== undefined) await judged
  return { principal: letIn(ctx, verified), beside: begun }
}

/**
 * The claims of a valid bearer token on a route that needs none; null for an absent, expired or
 * forged one. Throws `audience_mismatch` for a valid token of the other surface.
 */
export async function tryAuthenticate(
  ctx: SurfaceContext,
  authorization: string | undefined,
): Promise<AccessClaims | null> {
  const token = bearerToken(authorization)
  if (token === null) return null
  const verified = await verifyAccess(ctx, token)
  if (verified.ok) return verified.claims
  if (verified.reason === 'audience' && !verified.isExpired)
    throw new AuthError('audience_mismatch')
  return null
}

/** A person with a session; throws `human_principal_required` for a service account. */
export function requireHuman({ kind, sessionId }: Principal): { readonly sessionId: string } {
  if (kind !== '' || sessionId === null) throw new AuthError('human_principal_required')
  return { sessionId }
}

/** `requirePermission` for a request that was let in and had to wait: the denylist is asked, however short the wait was. */
export function requirePermissionAgain(
  ctx: SurfaceContext,
  principal: Principal,
  permission: string,
): Promise<User> {
  ctx.memory.principals.note(principal, Number.NEGATIVE_INFINITY)
  return requirePermission(ctx, principal, permission)
}

/** What could not be read, keys or denylist, says neither "signed out" nor "let in". */
function refuseUnread(cause: unknown): never {
  throw new AuthError('session_enforcement_unavailable', { cause })
}

function verifiedOf(judged: Judged<AccessClaims>): VerifiedToken {
  if (judged.ok) return judged
  throw new AuthError(judged.reason === 'audience' ? 'audience_mismatch' : 'unauthorized')
}

/** A route that means a tenant and names none must not become one that means none. */
function tenantOf({ tenantId }: { readonly tenantId: unknown }): string {
  if (!isTenantId(tenantId)) throw new AuthError('permission_denied')
  return tenantId
}

function allows(answer: unknown): boolean {
  return typeof answer === 'object' && answer !== null && 'allow' in answer && answer.allow === true
}

const space = 0x20
const scheme = 'bearer '

/**
 * RFC 6750 §2.1: the scheme in any case, one space or more, one token. Whether it is one is left to the
 * check of its signature, which refuses every character that has no place in it.
 */
function bearerToken(authorization = ''): string | null {
  if (authorization.slice(0, scheme.length).toLowerCase() !== scheme) return null
  let start = scheme.length
  while (authorization.charCodeAt(start) === space) start++
  return authorization.slice(start) || null
}
