import { type ErrorCode, errorCatalogue } from './error-catalogue.js'

/**
 * Seconds (RFC 9110 §10.2.3). Short, because a client that repeats a refresh whose answer was lost
 * has to do so within the window of a retired token.
 */
const outageRetryAfter = 1

/** What an `AuthError` carries beside its code. */
export interface AuthErrorOptions {
  /** Replaces the catalogue's text in the reply. It must hold neither input nor secrets. */
  readonly detail?: string
  /** Whole seconds, sent as `Retry-After` (RFC 9110 §10.2.3). */
  readonly retryAfter?: number
  /** For `step_up_required`: the greatest age of the proof in whole seconds (RFC 9470 `max_age`). */
  readonly maxAgeSeconds?: number
  readonly cause?: unknown
}

/**
 * A refusal, thrown by every function of this library that refuses. `code` is a key of
 * `errorCatalogue`, `status` its HTTP status. `message` is safe to show to the caller.
 */
export class AuthError extends Error {
  override readonly name = 'AuthError'
  readonly code: ErrorCode
  readonly status: number
  /** Whole seconds to wait before a retry; null where waiting does not help. */
  readonly retryAfter: number | null
  /** Whole seconds; null for every code but `step_up_required`. */
  readonly maxAgeSeconds: number | null

  constructor(code: ErrorCode, options: AuthErrorOptions = {}) {
    const entry = errorCatalogue[code]
    super(options.detail ?? entry.detail, { cause: options.cause })
    this.code = code
    this.status = entry.status
    this.retryAfter = options.retryAfter ?? (entry.status === 503 ? outageRetryAfter : null)
    this.maxAgeSeconds = options.maxAgeSeconds ?? null
  }
}
