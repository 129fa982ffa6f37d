import { type Child, element } from '../../shared/element.ts'

export interface PagerOptions {
  /** The address of the first page; null where it is shown. */
  readonly first: string | null
  /** The address of the page that follows; null on the last one. */
  readonly next: string | null
  readonly nextLabel?: string
}

/** Links to the other pages of a list; nothing where there is one page alone. */
export function pager({ first, next, nextLabel = 'Next page' }: PagerOptions): Child {
  if (first === null && next === null) return null
  return element(
    'div',
    { class: 'buttons' },
    first !== null && element('a', { class: 'button', href: first }, 'First page'),
    next !== null && element('a', { class: 'button', href: next }, nextLabel),
  )
}
