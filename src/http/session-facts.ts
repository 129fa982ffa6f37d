import type { AccessGrant } from '../domain/sessions/tokens.js'
import type { Surface } from '../ports/surface.js'
import type { RequestHead } from './http-message.js'

// Apart from `session-of.ts`: hosts compile against these types, which therefore name nothing of the operations.

/**
 * What a session is read for. `page`: a page is rendered (GET and HEAD, from any origin). `connection`: a WebSocket or
 * an EventSource is opened. `action`: a form is posted, or another request changes something (POST, PUT, PATCH, DELETE).
 */
export type SessionUse = 'page' | 'connection' | 'action'

/**
 * The signed-in person, as facts to render. It is no `Principal`: no guard, `requirePermission` or `requireStepUp`
 * takes it, because a cookie comes with requests that the person did not mean to send.
 */
export interface PageSession<S extends Surface = Surface> {
  readonly surface: S
  readonly user: {
    readonly id: string
    /** As it was typed at registration. */
    readonly email: string
    readonly name: string
    readonly emailVerified: boolean
  }
  /** All times in epoch milliseconds. */
  readonly session: {
    readonly id: string
    readonly loginAt: number
    /** When it ends unless it is refreshed before. Reading it does not move this. */
    readonly idleExpiresAt: number
    /** When it ends whatever happens; null without a cap. */
    readonly absoluteExpiresAt: number | null
  }
  /** To send with every reply that depends on it: `cache-control: private, no-store`. */
  readonly headers: { readonly 'cache-control': string }
}

/** The session of a connection that stays open. */
export interface ConnectionSession<S extends Surface = Surface> extends PageSession<S> {
  /**
   * Reads the session afresh, whatever cookie the browser has by now: null once it has ended, by sign-out, expiry,
   * cap, or because the user was disabled or deleted. Null as well once the key that signed the cookie is no longer in
   * the ring, and after a change of the password in the session and a refresh: the page opens another connection with
   * its present cookie, if it has one. Call it at least every 30 seconds, and close the connection at null. Throws
   * `AuthError` 503 `session_enforcement_unavailable` when store or keys do not answer, which says neither; ask again,
   * and close when it lasts.
   */
  recheck(): Promise<PageSession<S> | null>
}

/** An access token that `mint: true` asked for. */
export interface MintedAccess {
  /** As in the reply of `GET …/session`; `expiresIn` in seconds. */
  readonly access: AccessGrant
}

/** Reads the session of a request; see `SurfaceAuth.sessionOf`. */
export interface SessionOf<S extends Surface = Surface> {
  (
    request: RequestHead,
    options: { readonly use: 'page'; readonly mint?: false } & Peer,
  ): Promise<PageSession<S> | null>
  (
    request: RequestHead,
    options: { readonly use: 'connection'; readonly mint: true } & Peer,
  ): Promise<(ConnectionSession<S> & MintedAccess) | null>
  (
    request: RequestHead,
    options: { readonly use: 'connection'; readonly mint?: false } & Peer,
  ): Promise<ConnectionSession<S> | null>
  (
    request: RequestHead,
    options: { readonly use: 'action'; readonly mint: true } & Peer,
  ): Promise<(PageSession<S> & MintedAccess) | null>
  (
    request: RequestHead,
    options: { readonly use: 'action'; readonly mint?: false } & Peer,
  ): Promise<PageSession<S> | null>
}

/** The options of every overload. */
export interface SessionOfOptions extends Peer {
  readonly use: SessionUse
  readonly mint?: boolean
}

/** The same without the overloads, which say what members come with which use. */
export type AnySessionOf<S extends Surface> = (
  request: RequestHead,
  options: SessionOfOptions,
) => Promise<(PageSession<S> & Partial<MintedAccess>) | null>

interface Peer {
  /**
   * The peer's address, as adapters pass it on; `trustProxy` decides whether `X-Forwarded-For` counts. Default: that of
   * the request's socket, where it has one.
   */
  readonly remoteAddress?: string | undefined
}
