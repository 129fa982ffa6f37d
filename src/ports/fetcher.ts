export interface OutboundRequest {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Milliseconds for the whole exchange, the body included. */
  readonly timeoutMs: number
  /** The reply is cut off with a rejection beyond this many bytes. */
  readonly maxBytes: number
  /**
   * The address came from somebody who may not reach what this machine can reach (SSRF): only
   * `https:`, and only addresses of the public internet, judged where the connection is made.
   * A fetcher of the host's own has to see to that too.
   */
  readonly publicOnly?: true
}

export interface OutboundReply {
  readonly status: number
  readonly body: string
}

/** Outbound HTTP. Never follows redirects. Rejects on time-out, oversize and network failure. */
export interface Fetcher {
  fetch(request: OutboundRequest): Promise<OutboundReply>
}
