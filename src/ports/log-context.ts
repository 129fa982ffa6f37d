/** What a log line says of the request that it is about. */
export interface LoggedRequest {
  /** The operation's id, or the name of a route guard. */
  readonly operation: string
  /** The same at each call. */
  readonly requestId: () => string
}

/** Follows a request through everything that it causes, so that each log line can name it. */
export interface LogContext {
  /** Calls `work`. `current` tells of this request within it, also after it was waited for. */
  within<T>(request: LoggedRequest, work: () => T): T
  /** The request that is being worked on; null where there is none, as in a sweep. */
  current(): LoggedRequest | null
}
