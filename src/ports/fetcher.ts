/** An outbound HTTP request with its limits. */
export interface OutboundRequest {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Milliseconds for the whole exchange, including the body. */
  readonly timeoutMs: number
  /** The call rejects when the body of the reply is longer than this many bytes. */
  readonly maxBytes: number
  /**
   * The URL came from an untrusted caller (SSRF): use only `https:`, and connect only to addresses
   * of the public internet, checked on the resolved address. Your own fetcher has to enforce this too.
   */
  readonly publicOnly?: true
}

/** The reply to an outbound request, of any status. */
export interface OutboundReply {
  readonly status: number
  readonly body: string
}

/**
 * Outbound HTTP. Never follows redirects. Rejects on a timeout, an oversized body and a network
 * failure; a reply of any status resolves.
 */
export interface Fetcher {
  fetch(request: OutboundRequest): Promise<OutboundReply>
}
