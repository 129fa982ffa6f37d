/** A person who is signed in on a surface. */
interface KnownPerson {
  readonly email: string
  readonly bearer: string
  readonly cookie: string
}

export interface Known {
  readonly operator: KnownPerson
  readonly client: KnownPerson
}

export interface Measured {
  /** Requests that the framework handed to the library. */
  readonly requests: number
  /** Of these, such of which a body, a query, a cookie or an `Authorization` header was read. */
  readonly parsed: number
  /** Lines of the level `error`. */
  readonly errors: number
  /** Bytes that live on the heap after a collection. */
  readonly heap: number
}

/** What the host tells the test; the test asks with `known` and `measure`. */
export type HostMessage =
  | { readonly url: string }
  | { readonly known: Known }
  | { readonly measured: Measured }
