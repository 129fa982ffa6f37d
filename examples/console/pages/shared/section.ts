import { element } from './element.ts'
import { problemNotice } from './problem-notice.ts'

/** Fills the part of a page below its heading. `refresh` does it again, and moves the focus to the heading. */
export type FillSection = (body: HTMLElement, refresh: () => void) => void | Promise<void>

/** A part of a page that loads by itself: a part that cannot be shown leaves the others alone. */
export function section(title: string, fill: FillSection): HTMLElement {
  const id = `section-${crypto.randomUUID()}`
  const heading = element('h2', { id, tabindex: -1 }, title)
  const body = element('div', { class: 'stack' })
  let newest = 0
  const load = async () => {
    newest += 1
    const own = newest
    body.setAttribute('aria-busy', 'true')
    const next = element('div', { class: 'stack' })
    try {
      await fill(next, refresh)
    } catch (error) {
      next.replaceChildren(problemNotice(error, refresh))
    }
    // A later refresh knows more, even where the earlier one is answered last.
    if (own !== newest) return
    body.replaceChildren(next)
    body.removeAttribute('aria-busy')
  }
  const refresh = () => {
    heading.focus()
    load().catch(reportError)
  }
  load().catch(reportError)
  return element('section', { 'aria-labelledby': id }, heading, body)
}
