import { type ErrorCode, errorCatalogue } from './error-catalogue.js'
import type { PasswordViolation } from './password-violations.js'

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
  /**
   * For `step_up_required` and `mfa_enrollment_required`: the greatest age of the proof in whole seconds
   * (RFC 9470 `max_age`).
   */
  readonly maxAgeSeconds?: number
  /** For `password_policy`: the rules that the password violates. */
  readonly violations?: readonly PasswordViolation[]
  /** The key or record list that a configuration change was refused for. */
  readonly field?: string
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
  /** Whole seconds; null for every code but `step_up_required` and `mfa_enrollment_required`. */
  readonly maxAgeSeconds: number | null
  /** At least one rule; null for every code but `password_policy`. */
  readonly violations: readonly PasswordViolation[] | null
  /** The key or record list that a configuration change was refused for; null for other refusals. */
  readonly field: string | null

  constructor(code: ErrorCode, options: AuthErrorOptions = {}) {
    const entry = errorCatalogue[code]
    super(options.detail ?? entry.detail, { cause: options.cause })
    this.code = code
    this.status = entry.status
    this.retryAfter = options.retryAfter ?? (entry.status === 503 ? outageRetryAfter : null)
    this.maxAgeSeconds = options.maxAgeSeconds ?? null
    this.violations = options.violations ?? null
    this.field = options.field ?? null
  }
}
