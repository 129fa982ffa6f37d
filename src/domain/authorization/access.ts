import { ahead, withTimeout } from '../../concurrency/promises.js'
import type { VerifiedToken } from '../../crypto/memos.js'
import type { AccessClaims } from '../../crypto/tokens.js'
import { isTenantId } from '../../engine/accounts.js'
import { AuthError, describeError } from '../../errors/index.js'
import { isHuman, type User } from '../../model/user.js'
import type { DenylistEntry } from '../../ports/backend.js'
import type { Authorizer, PermissionQuestion } from '../../ports/host.js'
import { entryInForce, sessionDenylistId, tokenDenylistId } from '../context/denylist-entries.js'
import type { Principal } from '../context/principal.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { StepUp } from '../factors/step-up.js'
import type { Judged, Tokens } from '../sessions/tokens.js'
import { knownPrincipals } from './known-principals.js'

/** The checks in front of guarded routes, each throwing the code it refuses with. */
export interface Access {
  /**
   * The principal of the `Authorization` header: signature, type and issuer, then audience, then
   * expiry, then the denylist. Reads no cookie, no session and no user. At once, and throwing at once, where
   * neither keys nor denylist have to be waited for.
   */
  authenticate(authorization: string | undefined): Principal | Promise<Principal>
  /**
   * The same. `beside` is begun once the token is known to be genuine, while the denylist is asked: it may
   * read, and nothing may come of it before this resolves.
   */
  authenticateBeside<T>(
    authorization: string | undefined,
    beside: (userId: string) => T,
  ): Promise<{ readonly principal: Principal; readonly beside: T }>
  /**
   * Asks again for a principal that was admitted more than a second ago: expiry, then whether the key that signed is
   * still in force, then the denylist, as `authenticate` does. A caller can hold up the rest of a request, and a connection lives for long, so the
   * earlier answer may be out of date. At once, and throwing at once, where nothing has to be waited for.
   */
  recheck(principal: Principal): void | Promise<void>
  /** Begins to read an account for `permit`. What it fails with counts there. */
  readUser(userId: string): Promise<User | null>
  /**
   * The claims of a valid bearer token on a route that needs none; null for an absent, expired or
   * forged one. Throws `audience_mismatch` for a genuine token of the other surface.
   */
  peek(authorization: string | undefined): Promise<AccessClaims | null>
  /** A person with a session; throws `human_principal_required` for a service account. */
  requireHuman(principal: Principal): { readonly sessionId: string }
  /**
   * Rechecks the principal, reads the user afresh and asks the authorizer. Throws 403 or 503, or what `recheck`
   * throws; resolves only on "allow".
   * Without `of`, no tenant is meant; a malformed `tenantId` is refused, never read as no tenant. `read` is
   * what `readUser` gave within this request, if that was begun before.
   */
  permit(
    principal: Principal,
    permission: string,
    of?: { readonly tenantId: unknown },
    read?: Promise<User | null>,
  ): Promise<User>
  /** `permit` for a request that was let in and had to wait: the denylist is asked, however short the wait was. */
  permitAgain(principal: Principal, permission: string): Promise<User>
  /** Whether it was found to be good within the last second. */
  isFresh(principal: Principal): boolean
}

type Deps = Pick<
  SurfaceContext,
  'surface' | 'collections' | 'denylist' | 'clock' | 'clockLeeway' | 'logger'
> & {
  readonly authorizer: Authorizer
  readonly stepUp: Pick<StepUp, 'proofAge'>
}

/** How long the authorizer may think. */
const authorizerTimeoutMs = 2000

/** The guards of one route follow one another sooner, and ask the denylist once. */
const freshMs = 1000

export function createAccess(deps: Deps, tokens: Tokens): Access {
  const { surface, clock } = deps
  const known = knownPrincipals(surface)

  function verify(token: string): Judged<AccessClaims> | Promise<Judged<AccessClaims>> {
    try {
      const judged = tokens.verifyAccess(token)
      return judged instanceof Promise ? judged.catch(refuseUnread) : judged
    } catch (cause) {
      return refuseUnread(cause)
    }
  }

  /** A promise only where the denylist has to be waited for. */
  function refuseListed(claims: AccessClaims): void | Promise<void> {
    const ids = [tokenDenylistId(surface, claims.jti)]
    if (claims.sid !== undefined) ids.push(sessionDenylistId(surface, claims.sid))
    const asked = deps.denylist.find(ids)
    if (asked.atOnce !== undefined) return refuseOne(asked.atOnce.value, ids)
    return asked.then((entries) => refuseOne(entries, ids), refuseUnread)
  }

  function refuseOne(entries: readonly DenylistEntry[], ids: readonly string[]): void {
    if (entries.length === 0) return
    const entry = entryInForce(entries, ids, clock.now())
    if (entry === null) return
    throw new AuthError(entry.reason === 'max_age' ? 'session_max_age_reached' : 'session_revoked')
  }

  async function ask(
    { kind, sessionId }: Principal,
    user: User,
    { permission, tenantId }: Pick<PermissionQuestion, 'permission' | 'tenantId'>,
  ): Promise<boolean> {
    try {
      const answer: unknown = await withTimeout(
        deps.authorizer.check({
          surface,
          userId: user.id,
          kind,
          systemRole: user.systemRole,
          memberships: user.memberships,
          tenantId,
          permission,
          sessionId,
          proofAge: async () =>
            kind === '' && sessionId !== null ? deps.stepUp.proofAge(user, sessionId) : null,
        }),
        authorizerTimeoutMs,
        clock,
      )
      return answer === true || allows(answer)
    } catch (cause) {
      deps.logger.error('the authorizer failed', describeError(cause))
      throw new AuthError('authorization_unavailable', { cause })
    }
  }

  /** A promise only where the key ring has to be read first: each promise costs a guarded request dearly. */
  function genuine(authorization: string | undefined): VerifiedToken | Promise<VerifiedToken> {
    const token = bearerToken(authorization)
    if (token === null) throw new AuthError('unauthorized')
    const judged = verify(token)
    return judged instanceof Promise ? judged.then(verifiedOf) : verifiedOf(judged)
  }

  function isFresh(principal: Principal): boolean {
    const since = clock.now() - known.goodAt(principal)
    return since >= 0 && since <= freshMs
  }

  function recheck(principal: Principal): void | Promise<void> {
    if (isFresh(principal)) return
    const now = clock.now()
    const { claims } = principal
    if (claims.exp + deps.clockLeeway <= now / 1000) throw new AuthError('unauthorized')
    const kid = known.kidOf(principal)
    const isInForce = kid === null || tokens.isKeyInForce(kid)
    const judged =
      isInForce instanceof Promise
        ? isInForce.then((is) => refuseReplaced(is, claims), refuseUnread)
        : refuseReplaced(isInForce, claims)
    if (judged === undefined) return known.note(principal, now)
    return judged.then(() => known.note(principal, now))
  }

  function refuseReplaced(isKeyInForce: boolean, claims: AccessClaims): void | Promise<void> {
    if (!isKeyInForce) throw new AuthError('unauthorized')
    return refuseListed(claims)
  }

  const letIn = (verified: VerifiedToken) => known.letIn(verified, clock.now())

  function unlisted(verified: VerifiedToken): Principal | Promise<Principal> {
    const judged = refuseListed(verified.claims)
    return judged === undefined ? letIn(verified) : judged.then(() => letIn(verified))
  }

  const readUser = (userId: string) => ahead(deps.collections.users.get(userId))

  async function permit(...[principal, permission, of, read]: Parameters<Access['permit']>) {
    const tenantId = of === undefined ? null : tenantOf(of)
    const asked = recheck(principal)
    if (asked !== undefined) void ahead(asked)
    const reading = read ?? readUser(principal.userId)
    if (asked !== undefined) await asked
    const user = await reading
    const isOfKind = user !== null && isHuman(user) === isHuman(principal)
    if (!isOfKind || !user.enabled) throw new AuthError('permission_denied')
    const question = { permission, tenantId }
    if (!(await ask(principal, user, question))) throw new AuthError('permission_denied')
    return user
  }

  return {
    readUser,
    recheck,
    isFresh,

    authenticate(authorization) {
      const shown = genuine(authorization)
      return shown instanceof Promise ? shown.then(unlisted) : unlisted(shown)
    },

    async authenticateBeside(authorization, beside) {
      const shown = genuine(authorization)
      const verified = shown instanceof Promise ? await shown : shown
      const { claims } = verified
      const judged = refuseListed(claims)
      if (judged !== undefined) void ahead(judged)
      const begun = beside(claims.sub)
      // First of all, and whatever became of the other reads: their failure is no answer to a token
      // whose session has ended.
      if (judged !== undefined) await judged
      return { principal: letIn(verified), beside: begun }
    },

    async peek(authorization) {
      const token = bearerToken(authorization)
      if (token === null) return null
      const verified = await tokens.verifyAccess(token)
      if (verified.ok) return verified.claims
      if (verified.reason === 'audience') throw new AuthError('audience_mismatch')
      return null
    },

    requireHuman({ kind, sessionId }) {
      if (kind !== '' || sessionId === null) throw new AuthError('human_principal_required')
      return { sessionId }
    },

    permit,

    permitAgain(principal, permission) {
      known.note(principal, Number.NEGATIVE_INFINITY)
      return permit(principal, permission)
    },
  }
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
