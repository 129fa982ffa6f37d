import { element } from '../element.ts'

/** Leads back to the sign-in, at the foot of a step that may be left. */
export function backLink(href = '/login'): HTMLElement {
  return element('p', { class: 'links' }, element('a', { href }, 'Back to the sign-in'))
}
