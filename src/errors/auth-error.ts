import { type ErrorCode, errorCatalogue } from './error-catalogue.js'

/**
 * Seconds (RFC 9110 §10.2.3). Short, because a client that repeats a refresh whose answer was lost
 * has to do so within the window of a retired token.
 */
const outageRetryAfter = 1

export interface AuthErrorOptions {
  /** Shown to the caller in place of the catalogue's text. Never holds input or secrets. */
  readonly detail?: string
  /** Whole seconds, sent as `Retry-After`. */
  readonly retryAfter?: number
  /** Of `step_up_required`: whole seconds the proof must be younger than (RFC 9470 `max_age`). */
  readonly maxAgeSeconds?: number
  readonly cause?: unknown
}

/**
 * Thrown by every function of this library that refuses. `code` is one of the catalogue's,
 * `status` its HTTP status. `message` is safe to show to the caller.
 */
export class AuthError extends Error {
  override readonly name = 'AuthError'
  readonly code: ErrorCode
  readonly status: number
  /** Whole seconds after which to try again; null where waiting does not help. */
  readonly retryAfter: number | null
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
