/** The part of the Web Locks API that the client uses. */
export interface ClientLocks {
  request<T>(
    name: string,
    options: { readonly signal: AbortSignal },
    work: () => Promise<T>,
  ): Promise<T>
}

/** The part of `localStorage` that the client uses. Each method may throw. */
export interface ClientStorage {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
}

/** The part of a `BroadcastChannel` that the client uses. */
export interface ClientChannel {
  postMessage(message: unknown): void
  onmessage: ((event: MessageEvent) => unknown) | null
  close(): void
}

/**
 * What the client takes from the browser. Tests pass parts of it. `locks`, `storage`, `channel`, `cookies`
 * and `onShown` are null where a browser has none, and on a server; the client works without each of them.
 */
export interface ClientEnvironment {
  fetch(request: Request): Promise<Response>
  /** Milliseconds since the epoch. */
  now(): number
  /** Runs `run` once, `ms` milliseconds from now. The result cancels it. */
  after(ms: number, run: () => void): () => void
  /** A number from 0 up to 1, for the length of waits. */
  random(): number
  readonly locks: ClientLocks | null
  readonly storage: ClientStorage | null
  /** The channel of this name to the other tabs of the page's origin. */
  readonly channel: ((name: string) => ClientChannel) | null
  /** What scripts see of the page's cookies, as `document.cookie` has it. It may throw. */
  readonly cookies: (() => string) | null
  /**
   * Calls `run` whenever the page comes into view; `isRestored` is true where it comes from the back-forward cache.
   * The result stops it.
   */
  readonly onShown: ((run: (isRestored: boolean) => void) => () => void) | null
  /** The address of the page, against which a relative `baseUrl` is resolved. */
  readonly pageUrl: string
}
