import { element } from '../../shared/element.ts'

export interface SelectOptions {
  readonly name: string
  readonly label: string
  /** The value and the words of each choice. */
  readonly choices: readonly (readonly [value: string, text: string])[]
  readonly value?: string
  readonly hint?: string
}

/** A list to choose one entry from, with its label. */
export interface SelectField {
  readonly row: HTMLElement
  readonly select: HTMLSelectElement
}

export function selectField(options: SelectOptions): SelectField {
  const { name, label, choices, value, hint } = options
  const id = `field-${crypto.randomUUID()}`
  const select = element(
    'select',
    { id, name, 'aria-describedby': hint ? `${id}-hint` : null },
    choices.map(([one, text]) => element('option', { value: one, selected: one === value }, text)),
  )
  const row = element(
    'div',
    { class: 'field' },
    element('label', { for: id }, label),
    hint ? element('p', { id: `${id}-hint`, class: 'hint' }, hint) : null,
    select,
  )
  return { row, select }
}
