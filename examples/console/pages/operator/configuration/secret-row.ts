import { valueProblem } from 'postern/config'
import { element } from '../../shared/element.ts'
import type { Editor } from './editor.ts'
import type { Field, SubField } from './module-types.ts'
import { keyCode, labelText, tagOf } from './setting-row.ts'
import { sentence, valueHint } from './value-hint.ts'

/** The row of a secret: whether it is set, and how to replace or clear it. What it is, no reply tells. */
export function secretRow(editor: Editor, key: string, declaration: Field | SubField): HTMLElement {
  const { draft, places, changed } = editor
  const id = `setting-${key}`
  const isSet = draft.base.secretsSet.includes(key)
  const input = secretInput(declaration, id)
  const hintText = valueHint(declaration)
  const hint = element('p', { id: `${id}-hint`, class: 'hint' }, hintText && sentence(hintText))
  const error = element('p', { id: `${id}-error`, class: 'error' })
  const origin = element('span', { class: 'origin' })
  const button = (label: string, onclick: () => void) => {
    const name = `${label}: ${declaration.label}`
    return element('button', { type: 'button', class: 'small', 'aria-label': name, onclick }, label)
  }
  const fail = (text: string | null) => {
    error.textContent = text ?? ''
    if (text === null) input.removeAttribute('aria-invalid')
    else input.setAttribute('aria-invalid', 'true')
  }
  let isOpen = !isSet
  const refresh = () => {
    const text = draft.text(key)
    const isEdited = draft.isEdited(key)
    input.hidden = !isOpen
    hint.hidden = !isOpen || hintText === ''
    replace.hidden = isOpen || text === ''
    clear.hidden = !isSet || text === ''
    keep.hidden = !isSet || (!isOpen && !isEdited)
    origin.classList.toggle('edited', isEdited)
    if (!isEdited) origin.textContent = isSet ? 'Set' : 'Not set'
    else origin.textContent = text === '' ? 'Cleared when you save' : 'Not saved'
    changed()
  }
  const open = (wanted: boolean, text: string | null) => {
    isOpen = wanted
    input.value = ''
    fail(null)
    if (text === null) draft.undo(key)
    else draft.set(key, text)
    refresh()
  }
  const replace = button('Replace', () => {
    open(true, null)
    input.focus()
  })
  const clear = button('Clear', () => {
    open(false, '')
    keep.focus()
  })
  const keep = button('Keep as it is', () => {
    open(false, null)
    replace.focus()
  })
  input.addEventListener('input', () => {
    if (input.value === '') draft.undo(key)
    else draft.set(key, input.value)
    fail(null)
    refresh()
  })
  input.addEventListener('change', () => {
    const problem = valueProblem(declaration, input.value)
    if (problem !== null) fail(`This ${problem.problem}.`)
  })
  const typed = draft.text(key)
  if (typed) {
    isOpen = true
    input.value = typed
  } else if (typed === '') isOpen = false
  refresh()
  places.add(key, { fail, focus: () => (isOpen ? input : replace).focus() })
  return element(
    'div',
    { class: 'setting', 'data-key': key },
    element(
      'div',
      { class: 'setting-name' },
      element('label', { for: id }, labelText(declaration)),
      tagOf(declaration),
      keyCode(key),
    ),
    element('div', { class: 'setting-value' }, input, hint, error),
    element('div', { class: 'setting-state' }, origin, replace, clear, keep),
  )
}

/** A long secret, such as a private key, has lines. */
function secretInput(
  { max = Number.POSITIVE_INFINITY }: Field | SubField,
  id: string,
): HTMLInputElement | HTMLTextAreaElement {
  const attributes = {
    id,
    autocomplete: 'new-password',
    spellcheck: 'false',
    'aria-describedby': `${id}-hint ${id}-error`,
  }
  return max <= 512
    ? element('input', { type: 'password', ...attributes })
    : element('textarea', { rows: 4, class: 'secret', ...attributes })
}
