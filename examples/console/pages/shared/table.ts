import { type Child, element } from './element.ts'

export interface TableOptions {
  /** What the rows are, for people who cannot see the page as a whole. */
  readonly caption: string
  readonly heads: readonly string[]
  /** The cells of each row, the first of which names the row. */
  readonly rows: readonly (readonly Child[])[]
  /** Said in place of a table without rows. */
  readonly none: string
}

/** A table. Where it has little room, its rows stand below each other as cards, by the style sheet. */
export function table({ caption, heads, rows, none }: TableOptions): HTMLElement {
  if (rows.length === 0) return element('p', { class: 'soft' }, none)
  const head = heads.map((text) => element('th', { scope: 'col' }, text))
  const lines = rows.map(([name = null, ...cells]) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row', 'data-label': heads[0] }, name),
      cells.map((cell, at) => element('td', { 'data-label': heads[at + 1] }, cell)),
    ),
  )
  // Reached by the keyboard, since it may have to be scrolled.
  return element(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption },
    element(
      'table',
      { class: 'cards' },
      element('caption', {}, caption),
      element('thead', {}, element('tr', {}, head)),
      element('tbody', {}, lines),
    ),
  )
}
