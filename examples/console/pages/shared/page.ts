import type { AuthClient, ClientCalls, ReplyOf } from 'postern/client'

/** What `GET /options` tells of the surface. */
export type SurfaceOptions = ReplyOf<ClientCalls['GET /options']>

/** What a page works with. */
export interface PageContext {
  readonly surface: 'client' | 'operator'
  /** Calls what both surfaces have. */
  readonly client: AuthClient<'client'>
  /** What the surface has switched on, asked once for each load of the document. */
  readonly options: () => Promise<SurfaceOptions>
  /** Parts of the path: `userId` for the path `/users/:userId`. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** What stood in the fragment of the link that led here, such as a mailed token. It is gone from the address. */
  readonly fragment: URLSearchParams
  /** Aborts when the user leaves the page. */
  readonly signal: AbortSignal
  /** Opens another page. */
  readonly go: (path: string) => void
  /** Renders this page again, with what has changed. */
  readonly reload: () => void
  /** Says what happened, for eyes and for screen readers. It stays until the user goes on. */
  readonly announce: (text: string) => void
}

/** A page of one of the surfaces. */
export interface Page<C extends PageContext = PageContext> {
  /** Such as `/account` or `/users/:userId`. */
  readonly path: string
  /** The heading and the title of the document. */
  readonly title: string
  /**
   * `user`: a visitor is shown the sign-in in its place. `visitor`: a signed-in user is led to the first page of the surface.
   */
  readonly audience: 'user' | 'visitor' | 'all'
  /** Fills `main`, below the heading. What it rejects with is shown in its place. */
  render(main: HTMLElement, context: C): void | Promise<void>
}

/** A line of the navigation. */
export interface NavigationEntry {
  readonly path: string
  readonly label: string
}
