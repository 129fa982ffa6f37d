import { element } from '../../shared/element.ts'
import { field } from '../../shared/field.ts'
import { queryOf } from '../../shared/host-call.ts'
import type { OperatorContext } from '../operator-page.ts'
import { selectField } from '../shared/select-field.ts'
import type { Surface } from '../shared/surface-switch.ts'

/** What is looked for. Empty texts ask for nothing. */
export interface Search extends Readonly<Record<string, string>> {
  readonly surface: Surface
  readonly of: 'target' | 'actor'
  /** An address or an id. */
  readonly account: string
  readonly action: string
  readonly outcome: string
}

/** The form of a search. What it asks for stands in the address, so that it can be passed on. */
export function auditSearch({ go }: OperatorContext, search: Search): HTMLElement {
  const account = field({
    name: 'account',
    label: 'E-mail address or id',
    value: search.account,
    attributes: { required: true, maxlength: 254, autocomplete: 'off' },
  })
  const action = field({
    name: 'action',
    label: 'Event (optional)',
    value: search.action,
    attributes: { placeholder: 'such as login', maxlength: 100 },
  })
  const of = selectField({
    name: 'of',
    label: 'Show',
    choices: [
      ['target', 'what happened to it'],
      ['actor', 'what it did'],
    ],
    value: search.of,
  })
  const outcome = selectField({
    name: 'outcome',
    label: 'Outcome',
    choices: [
      ['', 'any'],
      ['success', 'success'],
      ['failure', 'failure'],
    ],
    value: search.outcome,
  })
  const find = (event: Event) => {
    event.preventDefault()
    account.fail(account.input.value.trim() === '' ? 'Please fill this in.' : null)
    if (account.input.value.trim() === '') return account.input.focus()
    const given = { account: account.input.value.trim(), action: action.input.value.trim() }
    const chosen = { of: of.select.value, outcome: outcome.select.value }
    go(`/audit${queryOf({ surface: search.surface, ...chosen, ...given })}`)
  }
  return element(
    'form',
    { class: 'search', role: 'search', novalidate: true, onsubmit: find },
    account.row,
    of.row,
    action.row,
    outcome.row,
    element('button', { type: 'submit', class: 'primary' }, 'Search'),
  )
}
