import { type AuthError, titleOf } from '../errors.js'
import type { ExchangeReply } from './exchange.js'

/** On every reply: none of them is a page, a script, or fit to be kept. */
export const commonHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
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
  const body = {
    status: error.status,
    title: titleOf(error.status),
    detail: error.message,
    ...(error.code === 'unauthorized' ? {} : { code: error.code }),
  }
  return {
    status: error.status,
    headers: {
      ...commonHeaders,
      'content-type': 'application/problem+json; charset=utf-8',
      ...(error.status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      ...(error.retryAfter === null ? {} : { 'retry-after': String(error.retryAfter) }),
      ...headers,
    },
    cookies: [],
    body: JSON.stringify(body),
  }
}
