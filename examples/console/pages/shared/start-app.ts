import type { AuthClient, SessionState } from 'postern/client'
import { frame } from './frame.ts'
import type { NavigationEntry, Page, PageContext, SurfaceOptions } from './page.ts'
import { problemNotice } from './problem-notice.ts'
import { codeText } from './problem-text.ts'
import { startRouter } from './router.ts'

export interface AppOptions<C extends PageContext> {
  readonly surface: PageContext['surface']
  readonly name: string
  /** The client of the surface, as far as both surfaces have the same. */
  readonly client: AuthClient<'client'>
  readonly pages: readonly Page<C>[]
  readonly signIn: Page<C>
  readonly navigation: readonly NavigationEntry[]
  /** The path of the first page: that of `/`, and of a sign-in that asked for no page. */
  readonly home: string
  readonly fragment: URLSearchParams
  /** Adds what only this surface's pages get. */
  readonly contextOf: (context: PageContext) => C
}

/** Starts the pages of a surface: asks who is signed in, then shows the page of the address. */
export function startApp<C extends PageContext>(app: AppOptions<C>): void {
  const { client, surface, name, navigation } = app
  const { main, announce, showSession, markPath } = frame({
    name,
    navigation,
    onSignOut: () => {
      client.call('POST /logout').then(
        () => announce('You are signed out.'),
        (error: unknown) => main.prepend(problemNotice(error, () => location.reload())),
      )
    },
  })
  let options: Promise<SurfaceOptions> | null = null
  const askedOptions = () => {
    options ??= client.call('GET /options').catch((error: unknown) => {
      options = null
      throw error
    })
    return options
  }
  const { show, recheck } = startRouter<C>({
    pages: app.pages,
    signIn: app.signIn,
    home: app.home,
    main,
    fragment: app.fragment,
    isSignedIn: () => client.get().status === 'signedIn',
    contextOf: (facts) =>
      app.contextOf({ ...facts, surface, client, options: askedOptions, announce }),
    onShown: (_page, path) => markPath(path),
    onLeave: () => announce(''),
  })
  let userId: string | null = null
  let lastUserId: string | null = null
  /** Tells whether another user took the place of one. */
  const follow = (state: SessionState): boolean => {
    showSession(state)
    const before = userId
    userId = state.status === 'signedIn' ? state.user.id : null
    // An open dialog is about the user before.
    if (userId !== null && lastUserId !== null && userId !== lastUserId) {
      for (const dialog of document.querySelectorAll('dialog')) dialog.close()
    }
    lastUserId = userId ?? lastUserId
    const words = wordsOf(state, before)
    if (words !== null) announce(words)
    return before !== null && userId !== null && before !== userId
  }
  const begin = () => {
    client.restore().then(
      (state) => {
        follow(state)
        show()
        client.onChange((next) => recheck(follow(next)))
      },
      (error: unknown) => main.replaceChildren(problemNotice(error, begin)),
    )
  }
  begin()
}

/** What to say when the session changes; null leaves what was said. `before` is the user until now. */
function wordsOf(state: SessionState, before: string | null): string | null {
  // A sign-in ends what was said before it, such as that somebody is signed out.
  if (before === null) return state.status === 'signedIn' ? '' : null
  return state.status === 'signedOut' ? (codeText(state.reason) ?? '') : null
}
