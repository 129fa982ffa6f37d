import type { Fetcher } from '../ports/host.js'

/** Milliseconds for one exchange with a provider. */
const timeoutMs = 10_000
/** Answers are a few kilobytes; key sets the largest of them. */
const maxBytes = 256 * 1024

interface Outgoing {
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body: URLSearchParams | null | undefined
}

/** The one way to a provider: bounded in time and size, following no redirect. */
export type Outbound = (url: string, request: Outgoing) => Promise<Response>

export function outboundOf(fetcher: Fetcher): Outbound {
  return async (url, { method, headers, body }) => {
    const reply = await fetcher.fetch({
      url,
      method,
      headers: { 'user-agent': 'postern', ...headers },
      ...(body ? { body: body.toString() } : {}),
      timeoutMs,
      maxBytes,
    })
    // A redirect would lead elsewhere, and a reply without content holds no answer.
    if (reply.status < 200 || reply.status === 204 || reply.status === 205 || reply.status > 599) {
      throw new Error(`a provider answered with the status ${reply.status}`)
    }
    const isEmptyKind = reply.status === 304
    // The port tells no headers. What is no JSON fails where it is read.
    return new Response(isEmptyKind ? null : reply.body, {
      status: reply.status,
      headers: { 'content-type': 'application/json' },
    })
  }
}
