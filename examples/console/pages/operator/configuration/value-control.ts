import { FieldBool, FieldDuration, FieldInt, FieldSelect } from 'postern/config'
import { type Attributes, element } from '../../shared/element.ts'
import type { Field, SubField } from './module-types.ts'
import { durationInWords } from './value-hint.ts'

/** What a value is edited with. Its value is a text, as it is stored. */
export interface ValueControl {
  /** What the label and the error belong to. */
  readonly input: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement
  /** The input, and what stands beside it. */
  readonly shown: HTMLElement
  show(text: string): void
}

/** A switch, a choice or an input, by the type of the field. `onInput` is told of each new text. */
export function valueControl(
  declaration: Field | SubField,
  attributes: Attributes,
  onInput: (text: string) => void,
): ValueControl {
  switch (declaration.type) {
    case FieldBool:
      return switchControl(attributes, onInput)
    case FieldSelect:
      return choiceControl(declaration.options ?? [], attributes, onInput)
    case FieldDuration:
      return durationControl(attributes, onInput)
    case FieldInt:
      return inputControl({ ...attributes, inputmode: 'numeric' }, onInput)
    default:
      return textControl(declaration, attributes, onInput)
  }
}

function switchControl(attributes: Attributes, onInput: (text: string) => void): ValueControl {
  const input = element('input', { ...attributes, type: 'checkbox', role: 'switch' })
  input.addEventListener('change', () => onInput(String(input.checked)))
  return {
    input,
    shown: input,
    show(text) {
      input.checked = text === 'true'
    },
  }
}

function choiceControl(
  options: readonly string[],
  attributes: Attributes,
  onInput: (text: string) => void,
): ValueControl {
  const none = element('option', { value: '' }, 'Not chosen')
  const choices = options.map((option) => element('option', { value: option }, option))
  const input = element('select', attributes, none, choices)
  input.addEventListener('change', () => onInput(input.value))
  return {
    input,
    shown: input,
    show(text) {
      input.value = text
      // Nothing to go back to where a value or a default stands.
      none.hidden = text !== ''
    },
  }
}

function durationControl(attributes: Attributes, onInput: (text: string) => void): ValueControl {
  const words = element('span', { class: 'soft' })
  const { input, show } = inputControl({ ...attributes, class: 'short' }, (text) => {
    words.textContent = durationInWords(text)
    onInput(text)
  })
  return {
    input,
    shown: element('span', { class: 'beside' }, input, words),
    show(text) {
      show(text)
      words.textContent = durationInWords(text)
    },
  }
}

function inputControl(attributes: Attributes, onInput: (text: string) => void): ValueControl {
  const input = element('input', {
    type: 'text',
    autocomplete: 'off',
    class: 'short',
    ...attributes,
  })
  input.addEventListener('input', () => onInput(input.value.trim()))
  return {
    input,
    shown: input,
    show(text) {
      input.value = text
    },
  }
}

/** Certificates and templates have lines, which an input of one line would take away. */
function textControl(
  { max = Number.POSITIVE_INFINITY }: Field | SubField,
  attributes: Attributes,
  onInput: (text: string) => void,
): ValueControl {
  const common = { autocomplete: 'off', spellcheck: 'false', ...attributes }
  const input =
    max <= 2048
      ? element('input', { type: 'text', ...common })
      : element('textarea', { rows: 3, ...common })
  input.addEventListener('input', () => onInput(input.value))
  return {
    input,
    shown: input,
    show(text) {
      input.value = text
    },
  }
}
