import type { SessionState } from 'postern/client'
import { element } from './element.ts'
import type { NavigationEntry } from './page.ts'

/** What stands around every page. */
export interface Frame {
  readonly main: HTMLElement
  /** Shows the navigation of a user, or none. */
  readonly showSession: (state: SessionState) => void
  /** Marks the line of the page that is shown. */
  readonly markPath: (path: string) => void
  readonly announce: (text: string) => void
}

interface FrameOptions {
  /** The name of the surface, beside the product's. */
  readonly name: string
  readonly navigation: readonly NavigationEntry[]
  readonly onSignOut: () => void
}

/** Puts header, navigation, live region and `main` into the document. */
export function frame({ name, navigation, onSignOut }: FrameOptions): Frame {
  const links = navigation.map(({ path, label }) => element('a', { href: path }, label))
  const items = links.map((link) => element('li', {}, link))
  const nav = element('nav', { 'aria-label': 'Pages', hidden: true }, element('ul', {}, items))
  const who = element('span', { class: 'who' })
  const signOut = element('button', { type: 'button', onclick: onSignOut }, 'Sign out')
  const session = element('div', { class: 'session', hidden: true }, who, signOut)
  const brand = element(
    'a',
    { href: '/', class: 'brand' },
    element('strong', {}, 'Postern'),
    ` ${name}`,
  )
  const main = element('main', { tabindex: -1 })
  const status = element('p', { class: 'status', role: 'status', 'aria-live': 'polite' })
  document.body.replaceChildren(
    element(
      'button',
      { type: 'button', class: 'skip', onclick: () => main.focus() },
      'To the content',
    ),
    element('header', {}, brand, session),
    element('div', { class: 'columns' }, nav, element('div', { class: 'content' }, status, main)),
    element('footer', {}, element('a', { href: '/demo/mails' }, 'Mails of this demo')),
  )
  return {
    main,
    showSession(state) {
      const user = state.status === 'signedIn' ? state.user : null
      nav.hidden = user === null
      session.hidden = user === null
      who.textContent = user === null ? '' : user.name || user.email
      document.body.classList.toggle('signed-in', user !== null)
    },
    markPath(path) {
      for (const link of links) {
        const own = link.getAttribute('href') ?? ''
        const isHere = own === path || path.startsWith(`${own}/`)
        if (isHere) link.setAttribute('aria-current', 'page')
        else link.removeAttribute('aria-current')
      }
    },
    announce(text) {
      status.textContent = text
    },
  }
}
