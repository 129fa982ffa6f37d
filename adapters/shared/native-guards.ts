import type {
  ExchangeReply,
  Guarded,
  GuardedRequest,
  Guards,
  RouteGuard,
  TenantOf,
} from '../../src/http/exchange.js'

/**
 * Guards as a framework takes them, and whom they let in. `T` is the request as a host's function is
 * shown it, where that is more than guards themselves need.
 */
export interface NativeGuards<P, A extends string, H, R, T = R> extends Guards<A, H, T> {
  /** Whom a guard of these let in to this request. Throws when none ran. */
  principalOf(request: R): P
}

/** Null to go on, else the reply that refuses. */
export type Admit<R> = (request: R, view: GuardedRequest) => Promise<ExchangeReply | null>

/**
 * Turns each guard of a surface into what a framework wants. A request is authenticated once, however
 * many guards of these stand in front of its route; permissions and proofs are asked for by each.
 */
export function nativeGuards<P, A extends string, H, R extends object, T extends R = R>(
  name: string,
  surface: Guarded<P, A>,
  native: (admit: Admit<T>) => H,
): NativeGuards<P, A, H, R, T> {
  if (typeof surface?.guards?.requireUser !== 'function') {
    throw new TypeError(`${name}: needs auth.operator or auth.client`)
  }
  const { guards } = surface
  const admitted = new WeakMap<R, { readonly principal: P }>()
  /** `guardOf` is asked again for each request: only here is the framework's own at hand. */
  const wrap = (guardOf: (request: T) => RouteGuard<P>): H =>
    native(async (request, view) => {
      const known = admitted.get(request)?.principal ?? null
      const { principal, refusal } = await guardOf(request)(view, known)
      if (refusal !== null) return refusal
      admitted.set(request, { principal })
      return null
    })
  const always = (guard: RouteGuard<P>): H => wrap(() => guard)
  return {
    requireUser: () => always(guards.requireUser()),
    requireAudience: (...audiences) => always(guards.requireAudience(...audiences)),
    requirePermission(permission, of) {
      const tenantIn = (request: T) => of && { tenant: () => of.tenant(request) }
      // What cannot be is told of where the route is declared.
      const given: TenantOf<never> | undefined = of
      guards.requirePermission(permission, given)
      return wrap((request) => guards.requirePermission(permission, tenantIn(request)))
    },
    requireStepUp: (age) => always(guards.requireStepUp(age)),
    principalOf(request) {
      const found = admitted.get(request)
      if (found === undefined) throw new Error(`${name}: no guard ran before this route`)
      return found.principal
    },
  }
}
