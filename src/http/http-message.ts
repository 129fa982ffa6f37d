import type { Answer } from '../ports/backend.js'

/** A request as a framework adapter passes it on, neither trusted nor parsed yet. */
export interface ExchangeRequest {
  readonly method: string
  /** The path below the mount point, still percent-encoded, without the query: `/v1/auth/…`. */
  readonly path: string
  /** The text after the `?`, still percent-encoded; empty without one. */
  readonly query: string
  /**
   * The value of a request header by lower-case name; several lines are joined by a comma. `host` is
   * `:authority` where the protocol has it, and the URL's host where there is no header.
   */
  header(name: string): string | undefined
  /** The peer's address of the socket; undefined where the runtime does not tell it. */
  readonly remoteAddress: string | undefined
  /**
   * Reads the body. Called at most once. Stops reading after `maxBytes`, and where `inTime`, which is asked to wait
   * for each part, says that it did not come. A reader that does not ask has two minutes in all.
   */
  body(maxBytes: number, inTime: InTime): Promise<ExchangeBody>
}

/** Waits for a part of a body, or for its end. Null where the sender was silent for half a minute, or took too long. */
export type InTime = <T>(part: Promise<T>) => Promise<T | null>

/** The body of a request, as far as it was read. */
export type ExchangeBody =
  | { readonly kind: 'empty' }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  /** The host's own parser has already read the body. */
  | { readonly kind: 'parsed'; readonly value: unknown }
  | { readonly kind: 'tooLarge' }
  | { readonly kind: 'tooSlow' }

/** A reply for a framework adapter to send. */
export interface ExchangeReply {
  readonly status: number
  /** By lower-case name. `set-cookie` is apart, because its lines cannot be joined. */
  readonly headers: Readonly<Record<string, string>>
  readonly cookies: readonly string[]
  /** Null for a reply without a body. */
  readonly body: string | null
}

/** `auth.operator`, `auth.client` or `auth.both`, as adapters mount them. */
export interface Mountable {
  /** Every route is one of these paths or below one, for frameworks that want routes declared. */
  readonly paths: readonly string[]
  /** Null for a path that the library does not serve: the host's routes follow. Never rejects. */
  handle(request: ExchangeRequest): Promise<ExchangeReply | null>
}

/** The members that a route guard reads of a request to the host's own route. */
export type RouteGuardRequest = Pick<ExchangeRequest, 'header' | 'remoteAddress'>

/** The principal that a route guard admits, or the reply that refuses; the other one is null. */
export type RouteGuardVerdict<P> =
  | { readonly principal: P; readonly refusal: null }
  | { readonly principal: null; readonly refusal: ExchangeReply }

/**
 * Admits or refuses a request. `known` is the principal that an earlier guard of this surface admitted
 * to the same request, else null; admitted more than a second ago, its token and session are asked for again.
 * Never rejects: every failure is a refusal. Where nothing had to be waited for, the verdict is there `atOnce`.
 */
export type RouteGuard<P> = (
  request: RouteGuardRequest,
  known: P | null,
) => Answer<RouteGuardVerdict<P>>

/** Names the tenant that a request is about. */
export interface TenantOf<R> {
  /**
   * The tenant's id, or a promise of it: a text of 1 to 64 characters. Any other value, including
   * undefined, is refused with 403. The id is a claim of the request; membership is not checked here.
   */
  tenant(request: R): unknown
}

/**
 * Route guards for the host's own routes. `H` is a guard in the form of the framework, `R` its
 * request. Every guard requires a valid access token of the surface whose session has not ended, else
 * 401, or 503 `session_enforcement_unavailable` when the denylist cannot be read.
 */
export interface RouteGuards<A extends string, H, R = RouteGuardRequest> {
  /** Admits people. A service account gets 403 `human_principal_required`. Reads no user record. */
  requireUser(): H
  /**
   * Admits a token of one of these audiences; without arguments, of every audience of the surface.
   * Other tokens get 401 `audience_mismatch`. Checks no permission and reads no user record. Throws a
   * `TypeError` for an audience that the surface does not accept.
   */
  requireAudience(...audiences: readonly A[]): H
  /**
   * Admits a principal to whom the authorizer grants this permission, asked for every request after
   * the user was read. Others, including disabled users, get 403 `permission_denied`; 503
   * `authorization_unavailable` when the answer cannot be had. `of` tells the authorizer which tenant
   * the request is about. Throws a `TypeError` for an empty permission.
   */
  requirePermission(permission: string, of?: TenantOf<R>): H
  /**
   * Admits a person whose session showed a second factor less than `maxAge` ago: a text such as `5m`, by default the
   * setting `stepUpMaxAge`. Others get 403 `step_up_required`, or `mfa_enrollment_required` where the account has no
   * factor, with the challenge of RFC 9470 §3. Throws a `TypeError` for a `maxAge` that is no text with units, because a
   * number would be seconds to some readers and milliseconds to others, and for one above an hour.
   */
  requireStepUp(age?: { readonly maxAge: string }): H
}

/**
 * As a `RouteGuard`, for a route that serves strangers too: principal and refusal are both null for a request without
 * an `Authorization` header.
 */
export type OptionalRouteGuard<P> = (
  request: RouteGuardRequest,
  known: P | null,
) => Answer<OptionalRouteGuardVerdict<P>>

/** What a guard decides that admits strangers as well. */
export type OptionalRouteGuardVerdict<P> =
  | RouteGuardVerdict<P>
  | { readonly principal: null; readonly refusal: null }

/** The guard for routes that serve strangers and people alike; `H` is a guard in the form of the framework. */
export interface OptionalRouteGuards<H> {
  /**
   * Admits a request without an `Authorization` header as that of no user, and every other as `requireUser` does: 401
   * for a token that is not valid or whose session has ended, 403 for a service account, 503
   * `session_enforcement_unavailable` when the denylist cannot be read. Reads no cookie and no user record.
   */
  optionalUser(): H
}

/** `auth.operator` or `auth.client`, of which adapters make route guards. */
export interface RouteGuarded<P, A extends string> {
  readonly guards: RouteGuards<A, RouteGuard<P>> & OptionalRouteGuards<OptionalRouteGuard<P>>
}

/**
 * The members of a request that `sessionOf` reads. A web `Request` has them, so have Node's `IncomingMessage` and the
 * requests of Express, Fastify (`request.raw`) and Koa (`context.req`). Where a framework gives headers alone, write
 * `{ method, headers }`.
 */
export interface RequestHead {
  /** In capitals, as `GET`. */
  readonly method?: string | undefined
  /** Web `Headers`, an object as Node has it, or pairs of name and value. Names may be in any case. */
  readonly headers:
    | { get(name: string): string | null }
    | Readonly<Record<string, string | readonly string[] | undefined>>
    | Iterable<readonly [string, string | readonly string[] | undefined]>
  /** Names the host where no header does. */
  readonly url?: string | undefined
  /** Node's; its address counts where `remoteAddress` is not given. */
  readonly socket?: { readonly remoteAddress?: string | undefined }
}
