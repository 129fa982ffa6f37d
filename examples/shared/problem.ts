import { STATUS_CODES } from 'node:http'
import { AuthError } from 'postern'

/**
 * What a caller is told of an error: a refusal of the library, what a body parser refused, or that something failed,
 * which is logged. Never a message or a stack of anything else.
 */
export function problemOf(error: unknown) {
  const code = error instanceof AuthError ? error.code : undefined
  const detail = error instanceof AuthError ? error.message : undefined
  const status = statusOf(error)
  if (status === 500) console.error(error)
  const wait = error instanceof AuthError ? error.retryAfter : null
  return {
    status,
    headers: {
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      ...(wait === null ? {} : { 'retry-after': String(wait) }),
    },
    body: JSON.stringify({ status, title: STATUS_CODES[status], detail, code }),
  }
}

/** For a path that the host does not have. */
export const notFound = () => problemOf(new AuthError('not_found'))

/** Frameworks and parsers name a status on their errors. What they blame the caller for is passed on. */
function statusOf(error: unknown): number {
  const status =
    typeof error === 'object' && error !== null && 'status' in error
      ? error.status
      : error instanceof Error && 'statusCode' in error && error.statusCode
  const isRefusal = error instanceof AuthError || (Number(status) >= 400 && Number(status) < 500)
  return isRefusal ? Number(status) : 500
}
