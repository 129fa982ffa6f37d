import type { ShownUser } from '../../../host/replies.ts'
import { element } from '../../shared/element.ts'

/** Whether a user can sign in, in a word or two. */
export function stateOf({ enabled, emailVerified }: ShownUser): HTMLElement {
  if (!enabled) return element('span', { class: 'badge danger' }, 'disabled')
  if (!emailVerified) return element('span', { class: 'badge' }, 'not confirmed')
  return element('span', { class: 'badge good' }, 'active')
}
