import { takeAddressFragment } from './address-fragment.ts'
import { element } from './element.ts'
import type { Page, PageContext } from './page.ts'
import { problemNotice } from './problem-notice.ts'

/** What a page gets from the router itself. */
export type RouteFacts = Pick<
  PageContext,
  'params' | 'query' | 'fragment' | 'signal' | 'go' | 'reload'
>

export interface RouterOptions<C extends PageContext> {
  readonly pages: readonly Page<C>[]
  /** Shown in the place of a page that only users see. */
  readonly signIn: Page<C>
  /** Where `/` leads. */
  readonly home: string
  readonly main: HTMLElement
  readonly fragment: URLSearchParams
  readonly isSignedIn: () => boolean
  readonly contextOf: (facts: RouteFacts) => C
  /** Called with each page that is shown. */
  readonly onShown: (page: Page<C>, path: string) => void
  /** Called when the user goes on by a link or by the browser's buttons. */
  readonly onLeave: () => void
}

export interface Router {
  /** Shows the page of the present address. */
  readonly show: () => void
  /** Shows it again where the page is not for the user who is signed in now, or shows another user's. */
  readonly recheck: (isOtherUser: boolean) => void
}

/** Shows the page of the address, follows links and the browser's buttons, and moves the focus along. */
export function startRouter<C extends PageContext>(options: RouterOptions<C>): Router {
  const { pages, signIn, home, main, isSignedIn } = options
  let { fragment } = options
  let shown: { readonly page: Page<C>; readonly leave: AbortController } | null = null

  const go = (path: string) => {
    history.pushState(null, '', path)
    fragment = new URLSearchParams()
    show()
  }
  /** For the page of the present address: after the user has left it, a late reply neither moves nor redraws. */
  const stepsHere = () => {
    const from = location.pathname
    return {
      go: (path: string) => {
        if (location.pathname === from) go(path)
      },
      reload: () => {
        if (location.pathname === from) show()
      },
    }
  }
  const chosen = (): { page: Page<C>; params: Readonly<Record<string, string>> } => {
    const found = matching(pages, location.pathname)
    if (found === null) return { page: missing, params: {} }
    return found.page.audience === 'user' && !isSignedIn() ? { ...found, page: signIn } : found
  }
  const show = (isFirst = false) => {
    if (location.pathname === '/') history.replaceState(null, '', home)
    const { page, params } = chosen()
    if (page.audience === 'visitor' && isSignedIn() && page !== missing) {
      history.replaceState(null, '', home)
      if (location.pathname !== home) return
      return show(isFirst)
    }
    shown?.leave.abort()
    const leave = new AbortController()
    shown = { page, leave }
    const heading = element('h1', { tabindex: -1 }, page.title)
    const body = element('div', { class: 'page' })
    main.replaceChildren(heading, body)
    document.title = `${page.title} · Postern`
    options.onShown(page, location.pathname)
    if (!isFirst) heading.focus()
    const facts = { params, query: new URLSearchParams(location.search), fragment }
    const context = options.contextOf({ ...facts, ...stepsHere(), signal: leave.signal })
    fill(page, body, context).catch(reportError)
  }

  document.addEventListener('click', (event) => {
    const path = linkedPath(event)
    if (path === null) return
    if (path !== '/' && matching(pages, new URL(path, location.href).pathname) === null) return
    event.preventDefault()
    options.onLeave()
    go(path)
  })
  addEventListener('popstate', () => {
    options.onLeave()
    // A mailed link that leads to the page that is open changes the fragment alone.
    fragment = takeAddressFragment()
    show()
  })
  return {
    show: () => show(true),
    recheck: (isOtherUser) => {
      const isWrong = shown?.page.audience === 'visitor' && isSignedIn()
      if (isOtherUser || isWrong || chosen().page !== shown?.page) show()
    },
  }
}

async function fill<C extends PageContext>(page: Page<C>, body: HTMLElement, context: C) {
  body.setAttribute('aria-busy', 'true')
  try {
    await page.render(body, context)
  } catch (error) {
    if (context.signal.aborted) return
    body.replaceChildren(problemNotice(error, context.reload))
  } finally {
    body.removeAttribute('aria-busy')
  }
}

const missing: Page = {
  path: '',
  title: 'There is no such page',
  audience: 'all',
  render(main) {
    main.append(element('p', {}, element('a', { href: '/' }, 'To the first page')))
  },
}

function matching<C extends PageContext>(pages: readonly Page<C>[], pathname: string) {
  const parts = partsOf(pathname)
  if (parts === null) return null
  for (const page of pages) {
    const names = page.path.split('/')
    const isMatch =
      names.length === parts.length &&
      names.every((name, at) => name.startsWith(':') || name === parts[at])
    if (!isMatch) continue
    const params = names.flatMap((name, at) =>
      name.startsWith(':') ? [[name.slice(1), parts[at] ?? ''] as const] : [],
    )
    return { page, params: Object.fromEntries(params) }
  }
  return null
}

/** Null where a `%` begins no character. */
function partsOf(pathname: string): readonly string[] | null {
  try {
    return pathname.split('/').map(decodeURIComponent)
  } catch {
    return null
  }
}

/** Where a plain click on a link of this origin leads; null for anything else. */
function linkedPath(event: MouseEvent): string | null {
  if (event.defaultPrevented || event.button !== 0) return null
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return null
  const link = event.target instanceof Element ? event.target.closest('a') : null
  if (link === null || link.target !== '' || link.hasAttribute('download')) return null
  const url = new URL(link.href, location.href)
  return url.origin === location.origin ? url.pathname + url.search : null
}
