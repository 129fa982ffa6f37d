import type { z } from 'zod'
import type {
  AccessClaims,
  Admitted,
  BrowserKeys,
  DeviceGrant,
  Enrollee,
  FlowCookie,
  RefreshGrant,
  RequestSource,
  Services,
  SignedIn,
  Surface,
} from '../domain/services/index.js'
import type { ErrorCode } from '../errors/index.js'

/** The tags of the OpenAPI document. */
export type Tag =
  | 'Authentication'
  | 'MFA'
  | 'WebAuthn'
  | 'Auth - Device Trust'
  | 'Service Accounts'
  | 'Mobile'
  | 'Self-Service'
  | 'Module Configuration'

/** A rate-limit policy by name; its numbers are elsewhere. */
export type RateClass =
  | 'register'
  | 'login'
  | 'recovery'
  | 'refresh'
  | 'oauth'
  | 'self'
  | 'mfa'
  | 'admin'
  | 'grant'

export type Guard =
  /** The caller need not be signed in. It is explicit, so that no operation is public by omission. */
  | { readonly kind: 'public' }
  /**
   * The request must come from one of the surface's own pages, or from no browser; with
   * `navigation`, a browser may also come from anywhere with a whole page.
   */
  | { readonly kind: 'origin'; readonly navigation?: true }
  /** A valid access token of a person with a session. */
  | { readonly kind: 'bearer' }
  /** A valid access token of a person with a session, or the ticket of a login that lacks a factor. */
  | { readonly kind: 'bearerOrTicket' }
  /**
   * A second-factor proof of this session, younger than `maxAgeMs` milliseconds; without it, than the
   * setting `stepUpMaxAge`.
   */
  | { readonly kind: 'stepUp'; readonly maxAgeMs?: number }
  /** A valid access token, of a person or of a service account. */
  | { readonly kind: 'principal' }
  /** Asked of the authorizer, after `bearer`. */
  | { readonly kind: 'permission'; readonly key: string }

/**
 * The cookies: of a session, of a trusted device (independent of the session), and of OAuth flows,
 * whose response arrives by a link or by a form.
 */
export type TokenCookie = 'refresh' | 'device' | 'oauth' | 'oauth_form'

/** What every handler gets. */
export interface Call<B> {
  readonly body: B
  readonly source: RequestSource
  /** Where the request came from, as limits count it: an IPv4 address or an IPv6 /64 network. */
  readonly address: string
  /** The refresh token from the surface's cookie. */
  readonly refreshCookie: string | null
  /** The device token from the surface's cookie. */
  readonly deviceCookie: string | null
  /** What the browser keeps of its flows to identity providers, by how they come back. */
  readonly flowCookies: BrowserKeys
  /**
   * Where tokens of the answer go: into cookies, unless the entry lets the header `x-token-delivery`
   * say `body`.
   */
  readonly tokenDelivery: 'cookie' | 'body'
  /** The bearer token's claims on a public operation, when it is a valid one of this surface. */
  readonly bearer: AccessClaims | null
  /** What stood for `{name}` and the like in the path. Raw text: no store may see it unparsed. */
  readonly params: Params
  /** The members of the query that the operation declares; raw text, of the declared form. */
  readonly query: Params
}

export type Params = Readonly<Record<string, string>>

export interface GuardedCall<B> extends Call<B>, SignedIn {}

export interface EnrollingCall<B> extends Call<B> {
  readonly enrollee: Enrollee
}

export interface AdminCall<B, L> extends Call<B>, Admitted {
  /** What the path names, as it was read. */
  readonly located: L
}

/** What a handler answers; the status is the operation's. */
export interface Answer<R> {
  readonly body: R
  /** Sets the refresh cookie to this token for `expiresIn` seconds, or clears it. */
  readonly refreshCookie?: RefreshGrant | 'clear'
  /** The same of the device cookie. */
  readonly deviceCookie?: Pick<DeviceGrant, 'deviceToken' | 'expiresIn'> | 'clear'
  /** What the browser is to keep of a flow to an identity provider. */
  readonly flowCookie?: FlowCookie
  readonly headers?: Readonly<Record<string, string>>
}

interface Common<B extends z.ZodType, R extends z.ZodType> {
  /** Names the operation on both surfaces; `operatorLogin`, `clientLogin` follow from `login`. */
  readonly id: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** `{surface}` stands for each of `surfaces`. */
  readonly path: `/v1/${string}`
  /** A path without the surface segment, which only chooses the surface. */
  readonly unprefixedPath?: `/v1/${string}`
  readonly surfaces: readonly Surface[]
  readonly tag: Tag
  readonly summary: string
  readonly guards: readonly [Guard, ...Guard[]]
  readonly limit: RateClass
  /** 302 answers with a `location` and no body. */
  readonly status: 200 | 201 | 202 | 204 | 302
  readonly body: B
  /** A form in place of JSON, each member a text. Of one operation, whose sender is no program. */
  readonly bodyForm?: true
  /** Whether a request without a body is one with `{}`. */
  readonly bodyOptional?: true
  readonly reply: R
  /** The members the query may have, each a text. Without it, what the query says is not looked at. */
  readonly query?: z.ZodType
  /** Whether a 401 takes the refresh cookie away: the cookie was the credential. */
  readonly usesRefreshCookie?: true
  /** The cookies it looks at, and those its reply may set or clear. */
  readonly cookies?: {
    readonly reads?: readonly TokenCookie[]
    readonly sets?: readonly TokenCookie[]
  }
  /** Whether the header `x-token-delivery: body` puts tokens into the body in place of cookies. */
  readonly choosesDelivery?: true
  /** Headers of its own that its answer always has. */
  readonly replyHeaders?: Readonly<Record<string, z.ZodType>>
  /** Whether a module's validator may refuse it, with a code of the module's own or with none. */
  readonly validated?: true
  /** Codes of its own, beside those that follow from its method, guards and access. */
  readonly errors: readonly ErrorCode[]
  /** Of a 302: the codes that its `location` may give the host's page as `?error=`. */
  readonly redirectErrors?: readonly ErrorCode[]
  /** Says on every reply that callers should leave it, and by when. */
  readonly deprecated?: Deprecated
}

/** Both are instants in UTC as ISO 8601, such as `2027-06-30T00:00:00Z`. */
export interface Deprecated {
  /** The time from which new clients should not use it, past or future (RFC 9745). */
  readonly since: string
  /** When it is expected to be gone; not before `since` (RFC 8594). */
  readonly sunset?: string
}

export interface PublicOperation<B extends z.ZodType = z.ZodType, R extends z.ZodType = z.ZodType>
  extends Common<B, R> {
  readonly access: 'public'
  /**
   * The meaning of an access token in the request. Absent: its claims are read, and none is required.
   * `credential`: one of several ways to authenticate. `ignored`: the operation belongs to no surface,
   * and the token is not read.
   */
  readonly bearer?: 'credential' | 'ignored'
  handle(call: Call<z.output<B>>, services: Services): Promise<Answer<z.input<NoInfer<R>>>>
}

export interface GuardedOperation<B extends z.ZodType = z.ZodType, R extends z.ZodType = z.ZodType>
  extends Common<B, R> {
  readonly access: 'guarded'
  handle(call: GuardedCall<z.output<B>>, services: Services): Promise<Answer<z.input<NoInfer<R>>>>
}

/** Its body names the ticket as `mfaToken`; an access token, where there is one, comes first. */
export interface EnrollingOperation<
  B extends z.ZodType = z.ZodType,
  R extends z.ZodType = z.ZodType,
> extends Common<B, R> {
  readonly access: 'enrolling'
  handle(call: EnrollingCall<z.output<B>>, services: Services): Promise<Answer<z.input<NoInfer<R>>>>
}

export interface AdminOperation<
  B extends z.ZodType = z.ZodType,
  R extends z.ZodType = z.ZodType,
  L = unknown,
> extends Common<B, R> {
  readonly access: 'admin'
  /** Reads what the path names, or throws its 404, before the body is looked at. */
  locate(params: Params, services: Services): Promise<L>
  handle(
    call: AdminCall<z.output<B>, NoInfer<L>>,
    services: Services,
  ): Promise<Answer<z.input<NoInfer<R>>>>
}

export type Operation = PublicOperation | GuardedOperation | EnrollingOperation | AdminOperation

/** An operation that needs no access token; infers its schemas. */
export function publicOperation<B extends z.ZodType, R extends z.ZodType>(
  entry: Omit<PublicOperation<B, R>, 'access'>,
): PublicOperation<B, R> {
  return { ...entry, access: 'public' }
}

/** An operation of a signed-in person; infers its schemas. */
export function guardedOperation<B extends z.ZodType, R extends z.ZodType>(
  entry: Omit<GuardedOperation<B, R>, 'access'>,
): GuardedOperation<B, R> {
  return { ...entry, access: 'guarded' }
}

/** An operation of a signed-in person or of a half-finished login; infers its schemas. */
export function enrollingOperation<B extends z.ZodType, R extends z.ZodType>(
  entry: Omit<EnrollingOperation<B, R>, 'access'>,
): EnrollingOperation<B, R> {
  return { ...entry, access: 'enrolling' }
}

/** An operation of a signed-in person or a service account; infers its schemas. */
export function adminOperation<B extends z.ZodType, R extends z.ZodType, L>(
  entry: Omit<AdminOperation<B, R, L>, 'access'>,
): AdminOperation<B, R, L> {
  return { ...entry, access: 'admin' }
}
