import { FieldBool, valueProblem } from 'postern/config'
import { element } from '../../shared/element.ts'
import type { Editor } from './editor.ts'
import type { Field, SubField } from './module-types.ts'
import { valueControl } from './value-control.ts'
import { sentence, valueHint } from './value-hint.ts'

export interface RowOptions {
  /** The key of the value: `hooks.eu.url` for a sub-field. */
  readonly key: string
  readonly declaration: Field | SubField
  /** What a page shows where nothing is stored. */
  readonly usual: string
  /** Where the value comes from; null for a sub-field, which comes from the store alone. */
  readonly source: 'store' | 'env' | 'default' | null
  /** True for a value of an element that is not stored yet: all of it is new. */
  readonly isNew?: boolean
}

/** The row of a setting whose value is shown: its label, what it is edited with, and where it comes from. */
export function settingRow(editor: Editor, options: RowOptions): HTMLElement {
  const { key, declaration, usual } = options
  const id = `setting-${key}`
  const error = element('p', { id: `${id}-error`, class: 'error' })
  const hintText = hintOf(declaration, usual)
  const hint = hintText ? element('p', { id: `${id}-hint`, class: 'hint' }, hintText) : null
  const origin = element('span', { class: 'origin' })
  const back = element('button', { type: 'button', class: 'small' })
  const control = valueControl(
    declaration,
    { id, 'aria-describedby': `${hint ? `${id}-hint ` : ''}${id}-error` },
    (text) => edit(text),
  )
  const fail = (text: string | null) => {
    error.textContent = text ?? ''
    if (text === null) control.input.removeAttribute('aria-invalid')
    else control.input.setAttribute('aria-invalid', 'true')
  }
  const inForce = () => {
    const text = editor.draft.text(key)
    const isEmpty = text === null || (text === '' && !isValueWhenEmpty(declaration))
    return isEmpty ? usual : text
  }
  const refresh = () => {
    const isEdited = editor.draft.isEdited(key) && options.isNew !== true
    origin.textContent = isEdited ? 'Not saved' : originText(options)
    origin.classList.toggle('edited', isEdited)
    const isFromStore = options.source === 'store'
    back.hidden = !isEdited && !(isFromStore && 'default' in declaration)
    back.textContent = isEdited ? 'Undo' : 'Use the default'
    back.setAttribute('aria-label', `${back.textContent}: ${declaration.label}`)
    editor.changed()
  }
  const edit = (text: string) => {
    const isAsBefore = editor.draft.base.config[key] === undefined && text === usual
    if (isAsBefore && options.source !== null) editor.draft.undo(key)
    else editor.draft.set(key, text)
    fail(null)
    refresh()
  }
  control.input.addEventListener('change', () => {
    const problem = valueProblem(declaration, editor.draft.text(key) ?? '')
    if (problem !== null) fail(`This ${problem.problem}.`)
  })
  back.addEventListener('click', () => {
    if (editor.draft.isEdited(key)) editor.draft.undo(key)
    else editor.draft.set(key, isValueWhenEmpty(declaration) ? usual : '')
    control.show(inForce())
    fail(null)
    refresh()
    control.input.focus()
  })
  control.show(inForce())
  refresh()
  editor.places.add(key, { fail, focus: () => control.input.focus() })
  const label = element('label', { for: id }, labelText(declaration))
  return element(
    'div',
    { class: 'setting', 'data-key': key },
    element('div', { class: 'setting-name' }, label, tagOf(declaration), keyCode(key)),
    element('div', { class: 'setting-value' }, control.shown, hint, error),
    element('div', { class: 'setting-state' }, origin, back),
  )
}

/** Whether an empty text is not the default here, but a value of its own. */
function isValueWhenEmpty(declaration: Field | SubField): boolean {
  return 'emptyIsValue' in declaration && declaration.emptyIsValue === true
}

export function labelText(declaration: Field | SubField): string {
  const isRequired =
    'required' in declaration && declaration.required === true && !declaration.condition
  return isRequired ? `${declaration.label} (required)` : declaration.label
}

/** The key of a value, as programs name it: for an element, the key of the sub-field. Null for an element's name. */
export function keyCode(key: string): HTMLElement | null {
  const own = key.slice(key.lastIndexOf('.') + 1)
  return own === '__label' ? null : element('code', {}, own)
}

/** Says which surface a setting is about, where it is not about both. */
export function tagOf(declaration: Field | SubField): HTMLElement | null {
  const surface = 'surface' in declaration ? declaration.surface : undefined
  if (surface === undefined || surface === 'both') return null
  return element('span', { class: 'tag' }, surface)
}

function hintOf(declaration: Field | SubField, usual: string): string {
  const hints = [valueHint(declaration)]
  if (isValueWhenEmpty(declaration)) hints.push('Left empty, there is no limit')
  else if (usual !== '' && declaration.type !== FieldBool) hints.push(`Default: ${usual}`)
  if ('condition' in declaration && declaration.condition !== undefined) {
    const { field, equals } = declaration.condition
    hints.push(`Needed where ${field} is ${equals}`)
  }
  return hints.filter(Boolean).map(sentence).join(' ')
}

function originText({ source, declaration }: RowOptions): string {
  if (source === 'env') {
    const name = 'envVar' in declaration ? declaration.envVar : undefined
    return `Environment variable ${name ?? ''}`
  }
  if (source === null) return ''
  return source === 'store' ? 'Stored' : 'Default'
}
