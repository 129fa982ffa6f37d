import { element } from './element.ts'
import { problemText } from './problem-text.ts'

/** Tells in the place of a page why it cannot be shown, and offers to try again. */
export function problemNotice(error: unknown, retry: () => void): HTMLElement {
  return element(
    'div',
    { class: 'notice problem', role: 'alert' },
    element('p', {}, problemText(error)),
    element('button', { type: 'button', onclick: retry }, 'Try again'),
  )
}
