import type {
  ExchangeReply,
  Guarded,
  GuardedRequest,
  Guards,
  RouteGuard,
} from '../../src/http/exchange.js'

/** Guards as a framework takes them, and whom they let in. */
export interface NativeGuards<P, A extends string, H, R> extends Guards<A, H> {
  /** Whom a guard of these let in to this request. Throws when none ran. */
  principalOf(request: R): P
}

/** Null to go on, else the reply that refuses. */
export type Admit<R> = (request: R, view: GuardedRequest) => Promise<ExchangeReply | null>

/**
 * Turns each guard of a surface into what a framework wants. A request is authenticated once, however
 * many guards of these stand in front of its route; permissions and proofs are asked for by each.
 */
export function nativeGuards<P, A extends string, H, R extends object>(
  name: string,
  surface: Guarded<P, A>,
  native: (admit: Admit<R>) => H,
): NativeGuards<P, A, H, R> {
  if (typeof surface?.guards?.requireUser !== 'function') {
    throw new TypeError(`${name}: needs auth.operator or auth.client`)
  }
  const { guards } = surface
  const admitted = new WeakMap<R, { readonly principal: P }>()
  const wrap = (guard: RouteGuard<P>): H =>
    native(async (request, view) => {
      const known = admitted.get(request)?.principal ?? null
      const { principal, refusal } = await guard(view, known)
      if (refusal !== null) return refusal
      admitted.set(request, { principal })
      return null
    })
  return {
    requireUser: () => wrap(guards.requireUser()),
    requireAudience: (...audiences) => wrap(guards.requireAudience(...audiences)),
    requirePermission: (permission) => wrap(guards.requirePermission(permission)),
    requireStepUp: (age) => wrap(guards.requireStepUp(age)),
    principalOf(request) {
      const found = admitted.get(request)
      if (found === undefined) throw new Error(`${name}: no guard ran before this route`)
      return found.principal
    },
  }
}
