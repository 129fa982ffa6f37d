import type {
  ExchangeReply,
  OptionalRouteGuard,
  OptionalRouteGuards,
  OptionalRouteGuardVerdict,
  RouteGuarded,
  RouteGuardRequest,
  RouteGuards,
  TenantOf,
} from '../../src/http/http-message.js'

/**
 * Route guards in the form of a framework. `T` is the request that a host's function receives, where
 * that has more members than a guard needs.
 */
export interface NativeGuards<P, A extends string, H, R, T = R>
  extends RouteGuards<A, H, T>,
    OptionalRouteGuards<H> {
  /**
   * The principal that a guard of this set admitted to this request. Throws when no guard ran, and when only
   * `optionalUser` ran and the request had no `Authorization` header.
   */
  principalOf(request: R): P
  /** The same behind `optionalUser`: null for a request without an `Authorization` header. Throws when no guard ran. */
  userOf(request: R): P | null
}

/** Null to go on, else the reply that refuses; a promise only where something has to be waited for. */
export type Admit<R> = (
  request: R,
  view: RouteGuardRequest,
) => ExchangeReply | null | Promise<ExchangeReply | null>

/**
 * Turns the guards of a surface into those of a framework. A request with several guards is
 * authenticated once; each guard checks its own permission or proof.
 */
export function nativeGuards<P, A extends string, H, R extends object, T extends R = R>(
  name: string,
  surface: RouteGuarded<P, A>,
  native: (admit: Admit<T>) => H,
): NativeGuards<P, A, H, R, T> {
  if (typeof surface?.guards?.requireUser !== 'function') {
    throw new TypeError(`${name}: needs auth.operator or auth.client`)
  }
  const { guards } = surface
  const admitted = admissions<P | null>()
  /** `guardOf` is called for each request, since only here the framework's request is at hand. */
  const wrap = (guardOf: (request: T) => OptionalRouteGuard<P>): H =>
    native((request, view) => {
      const before = admitted.of(request)
      const known = before?.principal ?? null
      const judge = ({ principal, refusal }: OptionalRouteGuardVerdict<P>) => {
        if (refusal !== null) return refusal
        if (before === null || principal !== known) admitted.admit(request, principal)
        return null
      }
      const verdict = guardOf(request)(view, known)
      return verdict.atOnce === undefined ? verdict.then(judge) : judge(verdict.atOnce.value)
    })
  const always = (guard: OptionalRouteGuard<P>): H => wrap(() => guard)
  function userOf(request: R): P | null {
    const found = admitted.of(request)
    if (found === null) throw new Error(`${name}: no guard ran before this route`)
    return found.principal
  }
  return {
    requireUser: () => always(guards.requireUser()),
    optionalUser: () => always(guards.optionalUser()),
    requireAudience: (...audiences) => always(guards.requireAudience(...audiences)),
    requirePermission(permission, of) {
      const tenantIn = (request: T) => of && { tenant: () => of.tenant(request) }
      // Invalid arguments throw where the route is declared.
      const given: TenantOf<never> | undefined = of
      guards.requirePermission(permission, given)
      return wrap((request) => guards.requirePermission(permission, tenantIn(request)))
    },
    requireStepUp: (age) => always(guards.requireStepUp(age)),
    principalOf(request) {
      const principal = userOf(request)
      if (principal !== null) return principal
      throw new Error(`${name}: optionalUser admitted nobody; ask userOf, which is null then`)
    },
    userOf,
  }
}

/** Which principal was admitted to which request. */
export interface Admissions<P> {
  /** Null for a request that no guard admitted, and for a copy of one. */
  of(request: object): { readonly principal: P } | null
  admit(request: object, principal: P): void
}

/** A constructor gives what it makes; a subclass adds its private field to that. */
class Itself {
  constructor(request: object) {
    // biome-ignore lint/correctness/noConstructorReturn: how a private field gets into an object of another class
    return request
  }
}

/**
 * Keeps the principal in the request itself, in a private field, where nothing but this code sees it: no copy of
 * the request has it and no object that inherits from it. A weak map would say the same, and its entries for
 * requests that are long over would be a tenth of what a guarded request costs.
 */
export function admissions<P>(): Admissions<P> {
  class Admitted extends Itself {
    #principal: P

    constructor(request: object, principal: P) {
      super(request)
      this.#principal = principal
    }

    static of(request: object): { readonly principal: P } | null {
      return #principal in request ? { principal: request.#principal } : null
    }

    static again(request: object, principal: P): boolean {
      if (!(#principal in request)) return false
      request.#principal = principal
      return true
    }
  }

  return {
    of: Admitted.of,
    admit(request, principal) {
      if (!Admitted.again(request, principal)) new Admitted(request, principal)
    },
  }
}
