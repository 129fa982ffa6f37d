import type { ExchangeReply, ExchangeRequest } from './request/exchange.js'

/**
 * The reply; 304 without its body where the request shows its `ETag` (RFC 9110 §13.1.2, §15.4.5).
 */
export function revalidated(
  request: Pick<ExchangeRequest, 'header'>,
  reply: ExchangeReply,
): ExchangeReply {
  if (!isShown(reply.headers['etag'], request.header('if-none-match'))) return reply
  const { 'content-type': _, ...headers } = reply.headers
  return { ...reply, status: 304, headers, body: null }
}

/** Compared weakly, as the condition asks: a proxy that compresses the reply marks its tag as weak. */
function isShown(etag = '', condition = ''): boolean {
  const shown = condition.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return etag !== '' && (shown.includes(etag) || shown.includes('*'))
}
