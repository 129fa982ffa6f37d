import { isPosternError } from 'postern/client'
import { element } from './element.ts'
import { problemText } from './problem-text.ts'

/** Tells in the place of a page why it cannot be shown, and offers to try again where that may help. */
export function problemNotice(error: unknown, retry: () => void): HTMLElement {
  return element(
    'div',
    { class: 'notice problem', role: 'alert' },
    element('p', {}, problemText(error)),
    !isGone(error) && element('button', { type: 'button', onclick: retry }, 'Try again'),
  )
}

/** Whether asking again would find no more. */
function isGone(error: unknown): boolean {
  return isPosternError(error) && error.kind === 'problem' && error.status === 404
}
