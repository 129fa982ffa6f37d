import { AuthError, type ErrorCode } from '../../errors/index.js'

/** The `reason` of an event about an act that failed. */
export function reasonOf(error: unknown): ErrorCode {
  return error instanceof AuthError ? error.code : 'internal_error'
}
