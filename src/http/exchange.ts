/** What a framework adapter hands over. Nothing in it is trusted or parsed yet. */
export interface ExchangeRequest {
  readonly method: string
  /** The path below the mount point, still percent-encoded, without the query: `/v1/auth/…`. */
  readonly path: string
  /** What follows the `?`, still percent-encoded; empty where there is none. */
  readonly query: string
  /** The value of a request header by lower-case name; several lines joined by a comma. */
  header(name: string): string | undefined
  /** The peer's address as the socket tells it; undefined where the runtime does not. */
  readonly remoteAddress: string | undefined
  /** Reads the body; called at most once. Stops reading beyond `maxBytes`. */
  body(maxBytes: number): Promise<ExchangeBody>
}

export type ExchangeBody =
  | { readonly kind: 'empty' }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  /** The host's own parser was there first. */
  | { readonly kind: 'parsed'; readonly value: unknown }
  | { readonly kind: 'tooLarge' }

export interface ExchangeReply {
  readonly status: number
  /** By lower-case name. `set-cookie` is apart, because several must stay several. */
  readonly headers: Readonly<Record<string, string>>
  readonly cookies: readonly string[]
  /** Null for a reply without a body. */
  readonly body: string | null
}

/** What adapters mount. */
export interface Mountable {
  /** Every route is one of these paths or below one: for frameworks that want routes declared. */
  readonly paths: readonly string[]
  /** Null when the path is none of ours: the host goes on with its own routes. Never rejects. */
  handle(request: ExchangeRequest): Promise<ExchangeReply | null>
}

/** What a guard looks at of a request to a route of the host's own. */
export type GuardedRequest = Pick<ExchangeRequest, 'header' | 'remoteAddress'>

/** Whom a guard lets in, or the reply it refuses with; the other one is null. */
export type Verdict<P> =
  | { readonly principal: P; readonly refusal: null }
  | { readonly principal: null; readonly refusal: ExchangeReply }

/**
 * `known` is whom an earlier guard of this surface let in to the same request, else null. Never
 * rejects: whatever goes wrong is a refusal.
 */
export type RouteGuard<P> = (request: GuardedRequest, known: P | null) => Promise<Verdict<P>>

/** Which tenant a request is about. */
export interface TenantOf<R> {
  /**
   * The tenant's id, a text of 1 to 64 characters; anything else, also undefined, is refused with
   * 403. It is the request's word: nobody has looked whether the caller belongs there.
   */
  tenant(request: R): unknown
}

/**
 * What stands in front of a host’s own routes; `H` is what a framework takes for a guard, and `R` its
 * request.
 */
export interface Guards<A extends string, H, R = GuardedRequest> {
  /** A person with a session. A service account gets 403 `human_principal_required`. */
  requireUser(): H
  /**
   * A token of one of these audiences; without any, of each that the surface accepts. Everybody else
   * gets 401 `audience_mismatch`. Asks nobody what the principal may do.
   */
  requireAudience(...audiences: readonly A[]): H
  /**
   * Somebody whom the authorizer grants this permission, asked anew for every request after the user
   * was read: 403 `permission_denied`, also for the disabled; 503 when it cannot be known. With `of`,
   * the authorizer is told the tenant that the request is about.
   */
  requirePermission(permission: string, of?: TenantOf<R>): H
  /**
   * A person whose session showed a second factor less than `maxAge` (such as `5m`) ago; without it,
   * than the setting `stepUpMaxAge`. 403 `step_up_required` with an RFC 9470 challenge otherwise.
   */
  requireStepUp(age?: { readonly maxAge: string }): H
}

/** `auth.operator` or `auth.client`, as adapters make guards of it. */
export interface Guarded<P, A extends string> {
  readonly guards: Guards<A, RouteGuard<P>>
}
