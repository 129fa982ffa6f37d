import type * as z from 'zod/mini'
import type { AccessClaims } from '../crypto/token-format.js'
import type { Admitted, SignedIn } from '../domain/context/actor.js'
import type { DeviceGrant } from '../domain/factors/trusted-devices.js'
import type { BrowserKeys } from '../domain/intents/oauth-flows.js'
import type { RecognitionGrant } from '../domain/login/login-risk.js'
import type { Enrollee } from '../domain/login/password-login.js'
import type { FlowCookie } from '../domain/oauth/oauth-sign-in.js'
import type { SignInKey } from '../domain/passwords/guess-budgets.js'
import type { RefreshGrant } from '../domain/sessions/tokens.js'
import type { SurfaceContext } from '../domain/surface/surface-context.js'
import type { ErrorCode } from '../errors/index.js'
import type { OperationOption, RequestSource, Surface } from '../ports/surface.js'

type Schema = z.ZodMiniType

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

/**
 * The rate limits of operations that know no account, each counted per network address;
 * `defaultRateLimits` and settings hold the numbers. `logout` counts only what does not verify.
 */
export type AddressClass =
  | 'register'
  | 'login'
  | 'recovery'
  | 'confirm'
  | 'refresh'
  | 'oauth'
  | 'mfa'
  | 'grant'
  | 'jwks'
  | 'options'
  | 'logout'

/**
 * The rate limits of signed-in callers, each counted per session and, five times as wide, per account.
 * What ends a session or a trust has a class of its own: a thief who uses up the others with a stolen token
 * must not keep the owner from ending that.
 */
export type SessionClass = 'self' | 'change' | 'ending' | 'mfa' | 'admin'

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
   * setting `stepUpMaxAge`. With `where`: asked of people alone, if `createAuth` was given that option.
   */
  | { readonly kind: 'stepUp'; readonly maxAgeMs?: number; readonly where?: 'adminStepUp' }
  /** A valid access token, of a person or of a service account. */
  | { readonly kind: 'principal' }
  /** The authorizer must grant it, after `bearer`. */
  | { readonly kind: 'permission'; readonly key: string }

/**
 * Cookies of a session, of a trusted device, which outlives it, and of OAuth flows, answered by link or by form; of
 * what was registered, of what the browser is known by, and of a password that was set there.
 */
export type TokenCookie =
  | 'refresh'
  | 'device'
  | 'oauth'
  | 'oauth_form'
  | 'registration'
  | 'recognition'
  | 'sign_in'

/** The request, as every handler gets it. */
export interface Call<B> {
  readonly body: B
  readonly source: RequestSource
  /** The languages of `Accept-Language`, for the mail that the caller asks for; the most wanted first. */
  languages(): readonly string[]
  /** Where the request came from, as limits count it: an IPv4 address or an IPv6 /64 network. */
  readonly address: string
  /** The `Authorization` header as it came, at a token endpoint. */
  readonly authorization: string | undefined
  /** The refresh token from the surface's cookie, where the operation goes by one. */
  readonly refreshCookie: string | null
  /** The refresh tokens of all cookies of the surface's name, where it looks at each. */
  readonly refreshCookies: readonly string[]
  /** The device token from the surface's cookie. */
  readonly deviceCookie: string | null
  /** What the browser keeps of its registrations, from the surface's cookie. */
  readonly registrationCookie: string | null
  /** What the browser is known by at logins, from the surface's cookie. */
  readonly recognitionCookie: string | null
  /** What a reset of a password gave the browser, from the surface's cookie. */
  readonly signInCookie: string | null
  /** Whether the person had a part in going there (Fetch Metadata); false where the browser does not say. */
  isAskedByPerson(): boolean
  /** The keys of the browser's OAuth flows from its cookies, the oldest first. */
  readonly flowCookies: BrowserKeys
  /** Where tokens of the answer go: cookies, unless the entry lets the header `x-token-delivery` say `body`. */
  readonly tokenDelivery: 'cookie' | 'body'
  /** The bearer token's claims on a public operation, when it is a valid one of this surface. */
  readonly bearer: AccessClaims | null
  /** The values of `{name}` and other parameters of the path. Raw text: parse it before a store sees it. */
  readonly params: Params
  /** The members of the query that the operation declares; raw text, of the declared form. */
  readonly query: Params
}

export interface RegistrationCookie {
  readonly registrationKey: string
  readonly expiresIn: number
}

export type Params = Readonly<Record<string, string>>

/** Protected routes accept access tokens alone: the refresh cookie is not theirs to see. */
export type ProtectedCall<B> = Omit<Call<B>, 'refreshCookie' | 'refreshCookies'>

export interface GuardedCall<B, A = unknown> extends ProtectedCall<B>, SignedIn {
  /** What the operation's `readAhead` gave; rejects as it did. */
  readAhead(): Promise<A>
}

export interface EnrollingCall<B> extends ProtectedCall<B> {
  readonly enrollee: Enrollee
}

export interface AdminCall<B, L> extends ProtectedCall<B>, Admitted {
  /** The document that the path names, as it was read. */
  readonly located: L
  /** Asks again for session, permission and second factor; if `late`, where it was let in over a second ago. */
  askAgain(when?: 'late'): Promise<void>
}

/** The answer of a handler. The operation's entry holds the status. */
export interface Answer<R> {
  readonly body: R
  /** Sets the refresh cookie to this token for `expiresIn` seconds, or clears it. */
  readonly refreshCookie?: RefreshGrant | 'clear'
  /** The same for the device cookie. */
  readonly deviceCookie?: Pick<DeviceGrant, 'deviceToken' | 'expiresIn'> | 'clear'
  /** Sets the cookie of registrations for `expiresIn` seconds. */
  readonly registrationCookie?: RegistrationCookie
  /** The same for what the browser is known by. */
  readonly recognitionCookie?: RecognitionGrant
  readonly signInCookie?: SignInKey
  /** Sets the cookie of each OAuth flow to its `key` for `expiresIn` seconds. */
  readonly flowCookies?: readonly FlowCookie[]
  readonly headers?: Readonly<Record<string, string>>
  /**
   * 303 in place of the 302 of an operation for pages: what was asked for failed, and the page is told. 200 in place of
   * 204: an app gets in the body what a browser gets as a cookie.
   */
  readonly status?: 200 | 303
}

/** Nor theirs to set or clear. */
export type ProtectedAnswer<R> = Omit<Answer<R>, 'refreshCookie'>

/** The options of a surface that bring operations of their own. */
export const operationOptions = ['mailedCode'] as const satisfies readonly OperationOption[]

interface Common<B extends Schema, R extends Schema> {
  /** Names the operation on both surfaces; `operatorLogin`, `clientLogin` follow from `login`. */
  readonly id: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** `{surface}` stands for each of `surfaces`. */
  readonly path: `/v1/${string}`
  /** A path without the surface segment, which only chooses the surface. */
  readonly unprefixedPath?: `/v1/${string}`
  readonly surfaces: readonly Surface[]
  /** The option of a surface without which the surface does not have it. */
  readonly option?: OperationOption
  /** True if `auth.both` answers it on unknown hosts too: other services may call by another name. */
  readonly everyHost?: true
  readonly tag: Tag
  readonly summary: string
  readonly guards: readonly [Guard, ...Guard[]]
  /** 302 answers with a `location` and no body. */
  readonly status: 200 | 201 | 202 | 204 | 302
  readonly body: B
  /** The body is a form, each member a text. */
  readonly bodyForm?: true
  /**
   * A token endpoint (RFC 6749 §3.2): clients may authenticate by `Basic`, never by the query; refusals are
   * those of §5.2; and no page of another origin may call it.
   */
  readonly oauth2?: true
  /** True if an absent body counts as `{}`. */
  readonly bodyOptional?: true
  readonly reply: R
  /** The members of the query, each a text. Without it, the query is ignored. */
  readonly query?: Schema
  /** The members of the query that are read; others are ignored, as links gather them on their way. Left out: all. */
  readonly queryMembers?: readonly string[]
  /**
   * Given if a 401 clears the refresh cookie, because the cookie was the credential. If several cookies have
   * the name, the operation goes by one, or looks at each itself.
   */
  readonly usesRefreshCookie?: 'one' | 'each'
  /** The cookies that it reads, and those that its reply may set or clear. */
  readonly cookies?: {
    readonly reads?: readonly TokenCookie[]
    readonly sets?: readonly TokenCookie[]
  }
  /** True if the header `x-token-delivery: body` puts tokens into the body instead of cookies. */
  readonly choosesDelivery?: true
  /**
   * True if its handler gives an `ETag`, and a request that shows the present one in `If-None-Match` is
   * answered 304 without a body (RFC 9110 §13.1.2).
   */
  readonly revalidates?: true
  /** Additional headers that its success always has. */
  readonly replyHeaders?: Readonly<Record<string, Schema>>
  /** True if a module's validator may refuse it, with the module's own code or without one. */
  readonly validated?: true
  /** Additional codes, beside those that follow from its method, guards and access. */
  readonly errors: readonly ErrorCode[]
  /**
   * True if people come here with a whole page: a refusal leads them on to a page of the host, by 303 with `?error=`.
   * Nothing is done for a browser that fetches ahead.
   */
  readonly forPages?: true
  /** For a 302: the codes that its `location` may pass to the host's page as `?error=`. */
  readonly redirectErrors?: readonly ErrorCode[]
  /** Announces the end of the operation on every reply. */
  readonly deprecated?: Deprecated
}

export interface PublicOperation<B extends Schema = Schema, R extends Schema = Schema>
  extends Common<B, R> {
  readonly access: 'public'
  readonly limit: AddressClass
  /**
   * The meaning of an access token in the request. Absent: its claims are read, and none is required.
   * `credential`: one of several ways to authenticate. `ignored`: it is not read, because the operation
   * belongs to no surface.
   */
  readonly bearer?: 'credential' | 'ignored'
  handle(call: Call<z.output<B>>, ctx: SurfaceContext): Promise<Answer<z.input<NoInfer<R>>>>
}

export interface GuardedOperation<B extends Schema = Schema, R extends Schema = Schema, A = unknown>
  extends Common<B, R> {
  readonly access: 'guarded'
  readonly limit: SessionClass
  /** A read of the caller's own account, begun beside the denylist, and unused where the caller is refused. */
  readAhead?(userId: string, ctx: SurfaceContext): Promise<A>
  handle(
    call: GuardedCall<z.output<B>, NoInfer<A>>,
    ctx: SurfaceContext,
  ): Promise<ProtectedAnswer<z.input<NoInfer<R>>>>
}

/** Its body carries the ticket as `mfaToken`. An access token takes precedence. */
export interface EnrollingOperation<B extends Schema = Schema, R extends Schema = Schema>
  extends Common<B, R> {
  readonly access: 'enrolling'
  /** Per session; per network address where a ticket takes the place of an access token. */
  readonly limit: 'mfa'
  handle(
    call: EnrollingCall<z.output<B>>,
    ctx: SurfaceContext,
  ): Promise<Answer<z.input<NoInfer<R>>>>
}

export interface AdminOperation<B extends Schema = Schema, R extends Schema = Schema, L = unknown>
  extends Common<B, R> {
  readonly access: 'admin'
  readonly limit: SessionClass
  /** Reads the document that the path names, or throws its 404, before the body is parsed. */
  locate(params: Params, ctx: SurfaceContext): Promise<L>
  handle(
    call: AdminCall<z.output<B>, NoInfer<L>>,
    ctx: SurfaceContext,
  ): Promise<ProtectedAnswer<z.input<NoInfer<R>>>>
}

export type Operation = PublicOperation | GuardedOperation | EnrollingOperation | AdminOperation

/** Each of the four infers its schemas. This one needs no access token. */
export function publicOperation<B extends Schema, R extends Schema>(
  entry: Omit<PublicOperation<B, R>, 'access'>,
): PublicOperation<B, R> {
  return { ...entry, access: 'public' }
}

/** An operation of a signed-in person. */
export function guardedOperation<B extends Schema, R extends Schema, A>(
  entry: Omit<GuardedOperation<B, R, A>, 'access'>,
): GuardedOperation<B, R, A> {
  return { ...entry, access: 'guarded' }
}

/** An operation of a signed-in person or of a login that lacks a factor. */
export function enrollingOperation<B extends Schema, R extends Schema>(
  entry: Omit<EnrollingOperation<B, R>, 'access'>,
): EnrollingOperation<B, R> {
  return { ...entry, access: 'enrolling' }
}

/** On what the path names, by a signed-in person or, with the guard `principal`, a service account. */
export function adminOperation<B extends Schema, R extends Schema, L>(
  entry: Omit<AdminOperation<B, R, L>, 'access'>,
): AdminOperation<B, R, L> {
  return { ...entry, access: 'admin' }
}

/** Both are instants in UTC as ISO 8601, such as `2027-06-30T00:00:00Z`. */
export interface Deprecated {
  /** The time from which new clients should not use it, past or future (RFC 9745). */
  readonly since: string
  /** When it is expected to be gone; not before `since` (RFC 8594). */
  readonly sunset?: string
}
