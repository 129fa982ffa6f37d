import { type Attributes, element } from './element.ts'

/** How an input is made. */
export interface FieldOptions {
  /** The name of the member it fills. */
  readonly name: string
  readonly label: string
  /** Further attributes: `type`, `autocomplete`, `required`, `inputmode`. */
  readonly attributes?: Attributes
  readonly value?: string
  /** A sentence below the label. */
  readonly hint?: string
}

/** An input with its label, its hint and its error, tied together for screen readers. */
export interface Field {
  readonly name: string
  readonly row: HTMLElement
  readonly input: HTMLInputElement
  /** Shows why the value cannot be taken; null takes the text away. */
  readonly fail: (text: string | null) => void
}

export function field(options: FieldOptions): Field {
  const id = `field-${crypto.randomUUID()}`
  const hint = options.hint ? element('p', { id: `${id}-hint`, class: 'hint' }, options.hint) : null
  const error = element('p', { id: `${id}-error`, class: 'error' })
  const described = [hint && `${id}-hint`, `${id}-error`].filter(Boolean).join(' ')
  const input = element('input', {
    id,
    name: options.name,
    value: options.value,
    type: 'text',
    'aria-describedby': described,
    ...options.attributes,
  })
  const label = element('label', { for: id }, options.label)
  const isCheckbox = input.type === 'checkbox'
  const row = isCheckbox
    ? element('div', { class: 'field check' }, input, label, hint, error)
    : element('div', { class: 'field' }, label, hint, input, error)
  return {
    name: options.name,
    row,
    input,
    fail(text) {
      error.textContent = text ?? ''
      if (text === null) input.removeAttribute('aria-invalid')
      else input.setAttribute('aria-invalid', 'true')
    },
  }
}
