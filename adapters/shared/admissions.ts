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
