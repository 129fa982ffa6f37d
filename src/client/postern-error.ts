import type { PasswordViolation, ProblemCode } from './problem-codes.js'

interface ClientError extends Error {
  readonly name: 'PosternError'
}

/** The server answered, and refused. */
export interface PosternProblem extends ClientError {
  readonly kind: 'problem'
  /** The HTTP status. */
  readonly status: number
  /**
   * The reason, for programs. Empty for a plain 401, and where the reply was not the library's: a proxy's, or
   * one that could not be read.
   */
  readonly code: ProblemCode | (string & {})
  /** The reason, for people, in English. It may change. */
  readonly detail: string
  /** Seconds to wait before the next attempt; null where the reply did not say. */
  readonly retryAfter: number | null
  /** What a `password_policy` refusal lists; empty with any other code. */
  readonly violations: readonly PasswordViolation[]
  /** With `step_up_required`: how old a proof may be, in seconds. Else null. */
  readonly maxAgeSeconds: number | null
  /** The member of the request that was refused; null where the reply did not name one. */
  readonly field: string | null
  /** The code of the host's own with which it refused a registration; null for other refusals. */
  readonly reason: string | null
}

/** No reply came. Whether the server carried the request out is not known. */
export interface PosternNetworkFailure extends ClientError {
  readonly kind: 'network'
}

/**
 * The call was given up: by its `signal`, or because another user signed in before it could be sent.
 * `cause` is the reason of the signal.
 */
export interface PosternAbort extends ClientError {
  readonly kind: 'abort'
}

/**
 * The storage of an app did not read or write the refresh token. `cause` is its error. No token was used that is not
 * written; the next call tries again.
 */
export interface PosternStorageFailure extends ClientError {
  readonly kind: 'storage'
}

/** What the client's calls reject with. `kind` tells them apart; `storage` is for apps alone. */
export type PosternError =
  | PosternProblem
  | PosternNetworkFailure
  | PosternAbort
  | PosternStorageFailure

/**
 * True for what the client's calls reject with.
 *
 * @example
 * import { createClient, isPosternError } from 'postern/client'
 * const client = createClient({ surface: 'client', baseUrl: 'https://api.example.com' })
 * try {
 *   await client.call('POST /login', { email: 'ada@example.org', password: 'a long passphrase' })
 * } catch (error) {
 *   if (!isPosternError(error)) throw error
 *   if (error.kind === 'problem' && error.code === 'invalid_credentials') console.log('try again')
 * }
 */
export function isPosternError(error: unknown): error is PosternError {
  return error instanceof Error && error.name === 'PosternError'
}

function made<T extends object>(
  message: string,
  cause: unknown,
  facts: T,
): Error & T & ClientError {
  return Object.assign(new Error(message, { cause }), { name: 'PosternError' as const }, facts)
}

export function networkFailure(cause: unknown): PosternNetworkFailure {
  return made('no reply', cause, { kind: 'network' as const })
}

export function aborted(cause: unknown): PosternAbort {
  return made('given up', cause, { kind: 'abort' as const })
}

export function storageFailure(cause: unknown): PosternStorageFailure {
  return made('storage failed', cause, { kind: 'storage' as const })
}

/** The members that a refusal's body may have. */
interface ProblemBody {
  readonly code?: unknown
  readonly detail?: unknown
  readonly violations?: unknown
  readonly maxAgeSeconds?: unknown
  readonly field?: unknown
  readonly reason?: unknown
}

const textOr = <T>(value: unknown, other: T): string | T =>
  typeof value === 'string' ? value : other

export function problem(
  status: number,
  body: ProblemBody,
  retryAfter: number | null,
): PosternProblem {
  const { violations, maxAgeSeconds } = body
  const code = textOr(body.code, '')
  return made(`${status} ${code}`, undefined, {
    kind: 'problem' as const,
    status,
    code,
    detail: textOr(body.detail, ''),
    retryAfter,
    violations: Array.isArray(violations) ? violations : [],
    maxAgeSeconds: typeof maxAgeSeconds === 'number' ? maxAgeSeconds : null,
    field: textOr(body.field, null),
    reason: textOr(body.reason, null),
  })
}
