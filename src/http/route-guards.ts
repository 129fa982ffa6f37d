import { answered } from '../checks/answered.js'
import {
  authenticate,
  authenticateBeside,
  readUserAhead,
  recheckPrincipal,
  requireHuman,
  requirePermission,
} from '../domain/authorization/access.js'
import type { Principal } from '../domain/context/actor.js'
import { requireStepUp } from '../domain/factors/step-up.js'
import type { SurfaceContext } from '../domain/surface/surface-context.js'
import { isProofAge, parseDuration } from '../engine/duration.js'
import { acceptedAudiences } from '../engine/surface-settings.js'
import { AuthError, describeError } from '../errors/index.js'
import type { Audience, Surface } from '../ports/surface.js'
import type { InRequest } from '../ports/telemetry.js'
import type {
  OptionalRouteGuard,
  OptionalRouteGuards,
  RouteGuard,
  RouteGuardRequest,
  RouteGuards,
  RouteGuardVerdict,
} from './http-message.js'
import { sourceOf, type TrustedProxies } from './incoming-request.js'
import { refusalEvents } from './refusal-events.js'
import { problemReply } from './reply.js'

/** The audiences whose tokens a surface accepts. */
export type AudienceOf<S extends Surface> = S extends 'operator' ? 'operator' | 'service' : S

interface Deps {
  readonly ctx: SurfaceContext
  readonly proxies: TrustedProxies
  readonly inRequest: InRequest
}

type Guards<S extends Surface> = RouteGuards<AudienceOf<S>, RouteGuard<Principal<S>>> &
  OptionalRouteGuards<OptionalRouteGuard<Principal<S>>>

/** Guards for the host's own routes, which refuse as the library's own routes do. */
export function routeGuards<S extends Surface>(
  surface: S,
  { ctx, proxies, inRequest }: Deps,
): Guards<S> {
  const refusals = refusalEvents(ctx)

  /** What an earlier guard found out, if that holds. */
  function still(known: Principal<S>): Principal<S> | Promise<Principal<S>> {
    const asked = recheckPrincipal(ctx, known)
    return asked === undefined ? known : asked.then(() => known)
  }

  /** For a check of the principal alone. Its verdict is there at once where the denylist answers at once. */
  function plainGuard(
    name: string,
    check: (principal: Principal<S>) => void,
  ): RouteGuard<Principal<S>> {
    return (request, known) => {
      let principal = known
      const admit = (shown: Principal): RouteGuardVerdict<Principal<S>> => {
        principal = ofSurface(surface, shown)
        check(principal)
        return { principal, refusal: null }
      }
      const refuse = (error: unknown): RouteGuardVerdict<Principal<S>> => {
        emitRefusal(name, error, request, principal)
        return { principal: null, refusal: problemReply(toAuthError(name, error)) }
      }
      return inRequest(name, request, () => {
        try {
          const header = request.header('authorization')
          const shown = known === null ? authenticate(ctx, header) : still(known)
          return shown instanceof Promise ? shown.then(admit).catch(refuse) : answered(admit(shown))
        } catch (error) {
          return answered(refuse(error))
        }
      })
    }
  }

  function guard(
    name: string,
    check: (principal: Principal<S>, request: RouteGuardRequest) => Promise<void> | void,
  ): RouteGuard<Principal<S>> {
    return guardBeside(name, null, check)
  }

  /** The same; `begin` reads beside the denylist, where the request was not authenticated before. */
  function guardBeside<T>(
    name: string,
    begin: ((userId: string) => T) | null,
    check: (principal: Principal<S>, request: RouteGuardRequest, begun?: T) => Promise<void> | void,
  ): RouteGuard<Principal<S>> {
    const judge: RouteGuard<Principal<S>> = async (request, known) => {
      let principal = known
      let begun: T | undefined
      try {
        if (principal === null && begin !== null) {
          const header = request.header('authorization')
          const authenticated = await authenticateBeside(ctx, header, begin)
          principal = ofSurface(surface, authenticated.principal)
          begun = authenticated.beside
        }
        if (known !== null) await still(known)
        principal ??= ofSurface(surface, await authenticate(ctx, request.header('authorization')))
        const checked = check(principal, request, begun)
        if (checked !== undefined) await checked
        return { principal, refusal: null }
      } catch (error) {
        emitRefusal(name, error, request, principal)
        return { principal: null, refusal: problemReply(toAuthError(name, error)) }
      }
    }
    return (request, known) => inRequest(name, request, () => judge(request, known))
  }

  /**
   * Emits the refusals of people and machines that are known, and of tokens that were good once or are good elsewhere,
   * and no others: no limit stands before a route of the host's, so strangers could fill the records.
   */
  function emitRefusal(
    name: string,
    error: unknown,
    request: RouteGuardRequest,
    principal: Principal | null,
  ): void {
    const source = sourceOf(request, proxies)
    if (principal === null || isOfDeadToken(error)) {
      const authorization = request.header('authorization')
      refusals.emitDeadToken(name, error, { source, authorization })
    } else refusals.emitRefusal(name, error, { source, userId: principal.userId })
  }

  function toAuthError(name: string, error: unknown): AuthError {
    if (error instanceof AuthError) return error
    ctx.logger.error('a guard failed unexpectedly', { guard: name, ...describeError(error) })
    return new AuthError('internal_error')
  }

  return {
    requireUser() {
      return plainGuard('requireUser', (principal) => void requireHuman(principal))
    },

    optionalUser() {
      const present = plainGuard('optionalUser', (principal) => void requireHuman(principal))
      return (request, known) => {
        // An empty header is one: a client that means to sign in must not be served as a stranger.
        const isStranger = known === null && request.header('authorization') === undefined
        return isStranger ? answered({ principal: null, refusal: null }) : present(request, known)
      }
    },

    requireAudience(...audiences) {
      const accepted: readonly Audience[] = acceptedAudiences[surface]
      const wanted: readonly Audience[] = audiences.length > 0 ? audiences : accepted
      const stray = wanted.find((audience) => !accepted.includes(audience))
      if (stray !== undefined) {
        throw new TypeError(`requireAudience: the ${surface} surface accepts no "${stray}" tokens`)
      }
      return plainGuard('requireAudience', ({ claims }) => {
        if (!wanted.includes(claims.aud)) throw new AuthError('audience_mismatch')
      })
    },

    requirePermission(permission, of) {
      if (typeof permission !== 'string' || permission === '') {
        throw new TypeError('requirePermission: needs the name of a permission')
      }
      if (of !== undefined && typeof of.tenant !== 'function') {
        throw new TypeError('requirePermission: tenant must be a function of the request')
      }
      return guardBeside(
        'requirePermission',
        (userId) => readUserAhead(ctx, userId),
        async (principal, request, begun) => {
          const named = of && { tenantId: of.tenant(request) }
          // A tenant that has to be waited for may stand in a body, and come when the caller pleases: what was read
          // before would be out of date.
          const read = isThenable(named?.tenantId) ? undefined : begun
          const tenant = named && { tenantId: await named.tenantId }
          await requirePermission(ctx, principal, permission, tenant, read)
        },
      )
    },

    requireStepUp(age) {
      const maxAgeMs = age === undefined ? null : durationWithUnits(age.maxAge)
      if (age !== undefined && !isProofAge(maxAgeMs)) {
        throw new TypeError(
          'requireStepUp: maxAge must be a text with units, such as "5m", and at most "1h"',
        )
      }
      return guard('requireStepUp', async (principal) =>
        requireStepUp(ctx, principal, maxAgeMs ?? (await ctx.settings()).stepUpMaxAge),
      )
    },
  }
}

/** Milliseconds; null for anything else. By a number, one reader means seconds and another milliseconds. */
function durationWithUnits(text: unknown): number | null {
  return typeof text === 'string' && /[a-z]$/.test(text) ? parseDuration(text) : null
}

/** An earlier guard let the principal in, and the token has run out or the session has ended since. */
function isOfDeadToken(error: unknown): boolean {
  if (!(error instanceof AuthError)) return false
  return ['unauthorized', 'session_revoked', 'session_max_age_reached'].includes(error.code)
}

function isThenable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'then' in value
}

/** The principal as one of this surface; throws `audience_mismatch` for one of the other. */
export function ofSurface<S extends Surface>(surface: S, principal: Principal): Principal<S> {
  if (isOf(surface, principal)) return principal
  throw new AuthError('audience_mismatch')
}

function isOf<S extends Surface>(surface: S, principal: Principal): principal is Principal<S> {
  return principal.surface === surface
}
