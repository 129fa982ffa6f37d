import { mintSlug } from 'postern/config'
import { type Child, element } from '../../shared/element.ts'
import type { DraftElement } from './draft.ts'
import type { Editor } from './editor.ts'
import { labelKey } from './environment-texts.ts'
import { isSecretField } from './is-secret-field.ts'
import type { Field } from './module-types.ts'
import { secretRow } from './secret-row.ts'
import { settingRow } from './setting-row.ts'

const mostElements = 50

/** The elements of a record list, which can be added, renamed, edited and removed. */
export function recordList(editor: Editor, field: Field): HTMLElement {
  const { draft, places, changed } = editor
  const error = element('p', { class: 'error', role: 'alert' })
  const elements = element('div', { class: 'elements' })
  const fail = (text: string | null) => {
    error.textContent = text ?? ''
  }
  const add = adding(field, (name) => {
    const slug = mintSlug(name)
    if (draft.elements(field.key).some((one) => one.slug === slug)) {
      throw new RangeError(`There is one of the name "${slug}" already. Choose another name.`)
    }
    draft.create(field.key, slug, name)
    fill()
    elements.querySelector<HTMLInputElement>(`[data-slug="${slug}"] input`)?.focus()
  })
  const fill = () => {
    const all = draft.elements(field.key)
    const left = all.filter(({ state }) => state !== 'removed').length
    const shown = all.map((one) => recordElement(editor, field, one, fill))
    const none = element('p', { class: 'hint' }, 'There are no elements.')
    elements.replaceChildren(...(shown.length > 0 ? shown : [none]))
    add.hidden = left >= Math.min(field.max ?? mostElements, mostElements)
    changed()
  }
  fill()
  places.add(field.key, { fail, focus: () => add.querySelector('input')?.focus() })
  return element(
    'fieldset',
    { class: 'record-list', 'data-key': field.key },
    element('legend', {}, field.label, ' ', element('code', {}, field.key)),
    elements,
    error,
    add,
  )
}

/** One element: its name, its sub-fields, and the button that removes it. */
function recordElement(
  editor: Editor,
  field: Field,
  { slug, state }: DraftElement,
  redraw: () => void,
): HTMLElement {
  const { draft } = editor
  const name = draft.text(labelKey(field.key, slug)) ?? slug
  const legend = element('legend', {}, name, ' ', element('code', {}, slug))
  const frame = (...children: readonly Child[]) =>
    element('fieldset', { class: `element ${state}`, 'data-slug': slug }, legend, children)
  const redrawAt = (selector: string) => {
    const list = document.activeElement?.closest('.record-list')
    redraw()
    list?.querySelector<HTMLElement>(selector)?.focus()
  }
  if (state === 'removed') {
    const putBack = () => {
      draft.putBack(field.key, slug)
      redrawAt(`[data-slug="${slug}"] input`)
    }
    const button = element(
      'button',
      { type: 'button', class: 'small', onclick: putBack },
      'Put back',
    )
    button.setAttribute('aria-label', `Put back ${name}`)
    return frame(element('p', { class: 'hint' }, 'Removed when you save. ', button))
  }
  const remove = () => {
    draft.remove(field.key, slug)
    redrawAt(state === 'stored' ? `[data-slug="${slug}"] button` : '.add input')
  }
  const isNew = state === 'created'
  const label = { key: '__label', label: 'Name', type: 'FieldString', max: 200 } as const
  const rows = (field.items ?? []).map((item) => {
    const key = `${field.key}.${slug}.${item.key}`
    return isSecretField(item)
      ? secretRow(editor, key, item)
      : settingRow(editor, { key, declaration: item, usual: '', source: null, isNew })
  })
  const names = settingRow(editor, {
    key: labelKey(field.key, slug),
    declaration: label,
    usual: slug,
    source: null,
    isNew,
  })
  const note = isNew && element('p', { class: 'hint' }, 'New: added when you save.')
  const button = element('button', { type: 'button', class: 'small', onclick: remove }, 'Remove')
  button.setAttribute('aria-label', `Remove ${name}`)
  return frame(note, names, rows, element('div', { class: 'buttons' }, button))
}

/** Takes the name of a new element. */
function adding(field: Field, onAdd: (name: string) => void): HTMLElement {
  const id = `add-${field.key}`
  const error = element('p', { id: `${id}-error`, class: 'error' })
  const input = element('input', { id, type: 'text', autocomplete: 'off' })
  input.setAttribute('aria-describedby', error.id)
  const add = () => {
    try {
      onAdd(input.value.trim())
      error.textContent = ''
      input.value = ''
    } catch (failure) {
      if (!(failure instanceof RangeError)) throw failure
      error.textContent = failure.message
      input.focus()
    }
  }
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return
    event.preventDefault()
    add()
  })
  return element(
    'div',
    { class: 'add' },
    element('label', { for: id }, `Name of a new element of ${field.label}`),
    element(
      'div',
      { class: 'beside' },
      input,
      element(
        'button',
        { type: 'button', onclick: add, 'aria-label': `Add to ${field.label}` },
        'Add',
      ),
    ),
    error,
  )
}
