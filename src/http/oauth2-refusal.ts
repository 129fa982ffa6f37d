import { isBasic } from '../engine/client-authentication.js'
import type { AuthError, ErrorCode } from '../errors/index.js'
import { commonHeaders } from './problem.js'
import type { ExchangeReply, ExchangeRequest } from './request/exchange.js'

/** The errors of RFC 6749 §5.2. Any other error of a token endpoint gets a problem body. */
const codes: readonly ErrorCode[] = [
  'invalid_request',
  'invalid_client',
  'unsupported_grant_type',
  'invalid_scope',
]

/**
 * The refusal of a token endpoint (RFC 6749 §5.2), the same bytes for each code. Null for an error that
 * has no name there. The challenge is `Basic` where the client tried that.
 */
export function oauth2Refusal(
  request: Pick<ExchangeRequest, 'header'>,
  { code, status, message }: AuthError,
): ExchangeReply | null {
  if (!codes.includes(code)) return null
  const scheme = isBasic(request.header('authorization'))
    ? 'Basic realm="oauth2", charset="UTF-8"'
    : 'Bearer'
  return {
    status,
    headers: {
      ...commonHeaders,
      pragma: 'no-cache',
      'content-type': 'application/json; charset=utf-8',
      ...(status === 401 ? { 'www-authenticate': scheme } : {}),
    },
    cookies: [],
    body: JSON.stringify({ error: code, error_description: plainly(message) }),
  }
}

/** The description has no quotes, backslashes or letters beyond ASCII. */
function plainly(message: string): string {
  return message.replaceAll(/["\\]|[^\x20-\x7e]/g, "'")
}
