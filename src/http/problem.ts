import {
  type AuthError,
  type ConfigValidationError,
  titleOf,
  ValueRefusal,
} from '../errors/index.js'
import type { ExchangeReply } from './request/exchange.js'

/** On every reply: none of them is a page, a script, or fit to be kept. */
export const commonHeaders = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const

/**
 * The problem body of an error (RFC 9457). The plain 401 has no `code` member: clients refresh and
 * retry exactly then. Every 401 names its scheme (RFC 9110 §11.6.1).
 */
export function problemReply(
  error: AuthError,
  headers: Readonly<Record<string, string>> = {},
): ExchangeReply {
  const { maxAgeSeconds: maxAge, violations, field } = error
  const body = {
    status: error.status,
    title: titleOf(error.status),
    detail: error.message,
    ...(error.code === 'unauthorized' ? {} : { code: error.code }),
    ...(maxAge === null ? {} : { maxAgeSeconds: maxAge }),
    ...(violations === null ? {} : { violations }),
    ...(field === null ? {} : { field }),
  }
  return {
    status: error.status,
    headers: {
      ...commonHeaders,
      'content-type': 'application/problem+json; charset=utf-8',
      ...(error.status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      // For information beside a 403: a 401 would send clients into refreshing and retrying.
      ...(maxAge === null ? {} : { 'www-authenticate': stepUpChallenge(maxAge) }),
      ...(error.retryAfter === null ? {} : { 'retry-after': String(error.retryAfter) }),
      ...headers,
    },
    cookies: [],
    body: JSON.stringify(body),
  }
}

/** RFC 9470 §3 */
function stepUpChallenge(maxAge: number): string {
  return `Bearer error="insufficient_user_authentication", max_age=${maxAge}`
}

/**
 * What a module's validator refused: the problem body with the module's own code, or, without one,
 * the text-only body of old. Clients compare that one byte by byte. What no validator judged names its
 * key as well.
 */
export function validatorReply(error: ConfigValidationError): ExchangeReply {
  const { code = '', message, field } = error
  const [status, title] = [422, titleOf(422)]
  const isText = code === ''
  const named = error instanceof ValueRefusal ? { field } : {}
  return {
    status,
    headers: {
      ...commonHeaders,
      'content-type': isText
        ? 'text/plain; charset=utf-8'
        : 'application/problem+json; charset=utf-8',
    },
    cookies: [],
    body: isText ? title : JSON.stringify({ status, title, detail: message, code, ...named }),
  }
}
