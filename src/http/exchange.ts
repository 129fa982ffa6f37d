/** What a framework adapter hands over. Nothing in it is trusted or parsed yet. */
export interface ExchangeRequest {
  readonly method: string
  /** The path below the mount point, still percent-encoded, without the query: `/v1/auth/…`. */
  readonly path: string
  /** The value of a request header by lower-case name; several lines joined by a comma. */
  header(name: string): string | undefined
  /** The peer's address as the socket tells it; undefined where the runtime does not. */
  readonly remoteAddress: string | undefined
  /** Reads the body; called at most once. Stops reading beyond `maxBytes`. */
  body(maxBytes: number): Promise<ExchangeBody>
}

export type ExchangeBody =
  | { readonly kind: 'empty' }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  /** The host's own parser was there first. */
  | { readonly kind: 'parsed'; readonly value: unknown }
  | { readonly kind: 'tooLarge' }

export interface ExchangeReply {
  readonly status: number
  /** By lower-case name. `set-cookie` is apart, because several must stay several. */
  readonly headers: Readonly<Record<string, string>>
  readonly cookies: readonly string[]
  /** Null for a reply without a body. */
  readonly body: string | null
}

/** What adapters mount. */
export interface Mountable {
  /** Null when the path is none of ours: the host goes on with its own routes. Never rejects. */
  handle(request: ExchangeRequest): Promise<ExchangeReply | null>
}
