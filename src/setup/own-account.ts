import { requireHuman, requirePermission } from '../domain/authorization/access.js'
import { type Actor, actBy, type Principal, type SignedIn } from '../domain/context/actor.js'
import {
  createIdentityAdministration,
  type IdentityAdministration,
  unlinkIdentity,
} from '../domain/oauth/oauth-links.js'
import { startLink } from '../domain/oauth/oauth-sign-in.js'
import {
  endOwnSession,
  listSessionsOf,
  type SessionEntry,
} from '../domain/sessions/own-sessions.js'
import type { SurfaceContext } from '../domain/surface/surface-context.js'
import { AuthError } from '../errors/index.js'
import type { CookiePolicy } from '../http/cookies.js'
import { flowCookieLines } from '../http/reply.js'
import { ofSurface } from '../http/route-guards.js'
import type { Surface } from '../ports/surface.js'

// What signed-in people do with their own sessions and identities, for routes of the host: the client surface has none.

/** Where a request came from, for events, records and mails. */
export type RequestOrigin = Pick<Actor, 'ip' | 'userAgent'>

/** The sessions of users. */
export interface OwnSessions<S extends Surface> {
  /**
   * The sessions of a user, the newest first: a hundred of the last 90 days, ended ones among them, and
   * up to two hundred others that go on. Empty for an unknown user. No permission is checked.
   */
  list(userId: string): Promise<readonly SessionEntry[]>
  /**
   * Ends one of the principal's own sessions, on every replica. May be repeated. Throws `AuthError`
   * `session_not_found`, also for a session of another user, and what `requirePermission` throws.
   */
  terminate(principal: Principal<S>, sessionId: string, from?: RequestOrigin): Promise<void>
}

/** How a person showed again who they are, where no second factor does. */
interface Shown {
  /** The id of a provider, such as `google`. */
  readonly provider: string
  /** Of an account that has a password and no second factor. */
  readonly currentPassword?: string | undefined
}

/** Where to send the browser that links an account of a provider. */
export interface LinkStart {
  readonly authorizationUrl: string
  /** Seconds within which the person has to come back. */
  readonly expiresIn: number
  /** To send with the reply: a cookie ties the flow to the browser. */
  readonly headers: {
    readonly 'set-cookie': readonly string[]
    readonly 'cache-control': 'no-store'
  }
}

/** Accounts at identity providers, by which users sign in. */
export interface OwnIdentities<S extends Surface> extends IdentityAdministration {
  /**
   * Begins to link an account of a provider to the principal's own. The surface's own callback finishes it, and leads
   * to `redirectUri` with `status=linked` or `error`. The address must be listed among `oauthRedirectTargets`, and the
   * route that sends `headers` must be on the host of the callback.
   *
   * Throws `AuthError`: `step_up_required` unless the session showed a second factor within `stepUpMaxAge`, or
   * `invalid_credentials` for the password of an account without one; `email_not_verified`,
   * `identity_already_linked`, `oauth_provider_disabled`, `redirect_not_allowed`, `not_found` for an unknown provider,
   * and what `requirePermission` throws.
   */
  startLink(
    principal: Principal<S>,
    given: Shown & { readonly redirectUri: string },
    from?: RequestOrigin,
  ): Promise<LinkStart>
  /**
   * Unlinks the principal's own account of a provider. Throws as `startLink` does, `not_found` where none is linked,
   * and `last_login_method` where the person could not sign in any more.
   */
  unlink(principal: Principal<S>, given: Shown, from?: RequestOrigin): Promise<void>
}

/** `sessions` and `identities` of a surface. */
export function ownAccount<S extends Surface>(
  surface: S,
  ctx: SurfaceContext,
  cookies: CookiePolicy,
): { readonly sessions: OwnSessions<S>; readonly identities: OwnIdentities<S> } {
  const signedIn = async (principal: Principal): Promise<SignedIn> => {
    requirePrincipal('sessions and identities', principal)
    const { sessionId } = requireHuman(ofSurface(surface, principal))
    const user = await requirePermission(ctx, principal, 'auth.self')
    return { principal, user, sessionId }
  }
  return {
    sessions: {
      list: (userId) => listSessionsOf(ctx, userId),
      async terminate(principal, sessionId, from = {}) {
        const { source } = actBy(from)
        const id = textOf('sessionId', sessionId)
        await endOwnSession(ctx, await signedIn(principal), id, source)
      },
    },
    identities: {
      ...createIdentityAdministration(ctx),
      async startLink(principal, { provider, redirectUri, currentPassword }, from = {}) {
        const { source } = actBy(from)
        const given = {
          redirectUri: textOf('redirectUri', redirectUri),
          currentPassword: passwordOf(currentPassword),
          keys: [],
        }
        const who = await signedIn(principal)
        const begun = await startLink(ctx, who, textOf('provider', provider), given, source)
        const { cookieSameSite } = await ctx.settings()
        const { authorizationUrl, expiresIn } = begun
        const lines = flowCookieLines(begun.cookies, cookies, cookieSameSite)
        return {
          authorizationUrl,
          expiresIn,
          headers: { 'set-cookie': lines, 'cache-control': 'no-store' },
        }
      },
      async unlink(principal, { provider, currentPassword }, from = {}) {
        const { source } = actBy(from)
        const [id, shown] = [textOf('provider', provider), passwordOf(currentPassword)]
        await unlinkIdentity(ctx, await signedIn(principal), id, shown, source)
      },
    },
  }
}

/** JavaScript lets a host give the facts of a page, which a cookie alone proved. */
export function requirePrincipal(name: string, principal: Principal): void {
  const { userId, claims } = principal ?? {}
  if (typeof userId === 'string' && typeof claims === 'object' && claims?.sub === userId) return
  throw new TypeError(
    `${name}: needs the principal of authenticate() or principalOf(); what sessionOf gives is none`,
  )
}

/** What a host passes on from a request may be anything. */
function textOf(member: string, value: unknown): string {
  if (typeof value === 'string' && value.length <= 4096) return value
  const detail = `${member} must be a text of at most 4,096 characters.`
  throw new AuthError('invalid_request', { detail })
}

function passwordOf(value: unknown): string | undefined {
  return value === undefined || value === null ? undefined : textOf('currentPassword', value)
}
