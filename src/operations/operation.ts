import type { z } from 'zod'
import type {
  AccessClaims,
  Admitted,
  Enrollee,
  Occasion,
  RefreshGrant,
  Services,
  SignedIn,
  Surface,
} from '../domain/services.js'
import type { ErrorCode } from '../errors.js'

/** The tags of the seed, spelled as there. */
export type Tag = 'Authentication' | 'Mobile' | 'Self-Service' | 'MFA' | 'Module Configuration'

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

export type Guard =
  /** Nobody needs to be signed in. Said aloud: no operation is public by omission. */
  | { readonly kind: 'public' }
  /** The request must come from one of the surface's own pages, or from no browser (G-39). */
  | { readonly kind: 'origin' }
  /** A valid access token of a person with a session. */
  | { readonly kind: 'bearer' }
  /** A valid access token of a person with a session, or the ticket of a login that lacks a factor. */
  | { readonly kind: 'bearerOrTicket' }
  /** A second-factor proof of this session, younger than the setting `stepUpMaxAge` (S-28). */
  | { readonly kind: 'stepUp' }
  /** A valid access token, of a person or of a service account. */
  | { readonly kind: 'principal' }
  /** Asked of the authorizer, after `bearer`. */
  | { readonly kind: 'permission'; readonly key: string }

/** What every handler gets. */
export interface Call<B> {
  readonly body: B
  readonly occasion: Occasion
  /** The refresh token from the surface's cookie. */
  readonly refreshCookie: string | null
  /** The bearer token's claims on a public operation, when it is a valid one of this surface. */
  readonly bearer: AccessClaims | null
  /** What stood for `{name}` and the like in the path. Raw text: no store may see it unparsed. */
  readonly params: Params
}

export type Params = Readonly<Record<string, string>>

export interface GuardedCall<B> extends Call<B>, SignedIn {}

export interface EnrollingCall<B> extends Call<B> {
  readonly enrollee: Enrollee
}

export interface AdminCall<B> extends Call<B>, Admitted {}

/** What a handler answers; the status is the operation's. */
export interface Answer<R> {
  readonly body: R
  /** Sets the refresh cookie to this token for `expiresIn` seconds, or clears it. */
  readonly refreshCookie?: RefreshGrant | 'clear'
  readonly headers?: Readonly<Record<string, string>>
}

interface Common<B extends z.ZodType, R extends z.ZodType> {
  /** Names the operation on both surfaces; `operatorLogin`, `clientLogin` follow from `login`. */
  readonly id: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** `{surface}` stands for each of `surfaces`. */
  readonly path: `/v1/${string}`
  /** A path without the surface segment, which only chooses the surface (T-22). */
  readonly bareAlias?: `/v1/${string}`
  readonly surfaces: readonly Surface[]
  readonly tag: Tag
  readonly summary: string
  readonly guards: readonly [Guard, ...Guard[]]
  readonly limit: RateClass
  readonly status: 200 | 201 | 202 | 204
  readonly body: B
  /** Whether a request without a body is one with `{}`. */
  readonly bodyOptional?: true
  readonly reply: R
  /** Whether a 401 takes the refresh cookie away: the cookie was the credential. */
  readonly usesRefreshCookie?: true
  /** Codes of its own, beside those every operation shares. */
  readonly errors: readonly ErrorCode[]
}

export interface PublicOperation<B extends z.ZodType = z.ZodType, R extends z.ZodType = z.ZodType>
  extends Common<B, R> {
  readonly access: 'public'
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

export interface AdminOperation<B extends z.ZodType = z.ZodType, R extends z.ZodType = z.ZodType>
  extends Common<B, R> {
  readonly access: 'admin'
  /** Throws the 404 of what the path names, before the body is looked at (T-61). */
  locate(params: Params, services: Services): Promise<void>
  handle(call: AdminCall<z.output<B>>, services: Services): Promise<Answer<z.input<NoInfer<R>>>>
}

export type Operation = PublicOperation | GuardedOperation | EnrollingOperation | AdminOperation

/** An operation anybody may call; infers its schemas. */
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
export function adminOperation<B extends z.ZodType, R extends z.ZodType>(
  entry: Omit<AdminOperation<B, R>, 'access'>,
): AdminOperation<B, R> {
  return { ...entry, access: 'admin' }
}
