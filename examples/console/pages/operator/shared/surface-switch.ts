import { element } from '../../shared/element.ts'

export type Surface = 'client' | 'operator'

/** The words for the accounts of a surface. */
export const accountsOf = { client: 'End users', operator: 'Operators' } as const

/** The surface that the address names; that of end users without one. */
export function surfaceIn(query: URLSearchParams): Surface {
  return query.get('surface') === 'operator' ? 'operator' : 'client'
}

/** Links to the same page about the one surface and the other. */
export function surfaceSwitch(path: string, chosen: Surface): HTMLElement {
  const surfaces = ['client', 'operator'] as const
  const links = surfaces.map((surface) =>
    element(
      'a',
      { href: `${path}?surface=${surface}`, 'aria-current': surface === chosen ? 'true' : null },
      accountsOf[surface],
    ),
  )
  return element('div', { class: 'switch', role: 'group', 'aria-label': 'Whose' }, links)
}
