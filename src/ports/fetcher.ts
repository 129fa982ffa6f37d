export interface OutboundRequest {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Milliseconds for the whole exchange, the body included. */
  readonly timeoutMs: number
  /** The reply is cut off with a rejection beyond this many bytes. */
  readonly maxBytes: number
}

export interface OutboundReply {
  readonly status: number
  readonly body: string
}

/** Outbound HTTP. Never follows redirects. Rejects on time-out, oversize and network failure. */
export interface Fetcher {
  fetch(request: OutboundRequest): Promise<OutboundReply>
}
