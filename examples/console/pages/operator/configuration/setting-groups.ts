import { FieldRecordList } from 'postern/config'
import { element } from '../../shared/element.ts'
import type { Editor } from './editor.ts'
import { isSecretField } from './is-secret-field.ts'
import type { Field } from './module-types.ts'
import { recordList } from './record-list.ts'
import { secretRow } from './secret-row.ts'
import { settingRow } from './setting-row.ts'

/** Every setting of a module, in its group and below its child, in the order of the declarations. */
export function settingGroups(editor: Editor): readonly HTMLElement[] {
  const groups = [...new Set(editor.module.fields.map(({ group }) => group))]
  return groups.map((group, index) => {
    const id = `group-${index}`
    const fields = editor.module.fields.filter((field) => field.group === group)
    const children = [...new Set(fields.map(({ child }) => child))]
    return element(
      'section',
      { 'aria-labelledby': id, class: 'group' },
      element('h2', { id, tabindex: -1 }, group),
      children.map((child) =>
        element(
          'div',
          { class: 'child' },
          child !== undefined && element('h3', {}, child),
          fields.filter((field) => field.child === child).map((field) => fieldRow(editor, field)),
        ),
      ),
    )
  })
}

function fieldRow(editor: Editor, field: Field): HTMLElement {
  const { key } = field
  if (field.type === FieldRecordList) return recordList(editor, field)
  if (isSecretField(field)) return secretRow(editor, key, field)
  const source = editor.draft.base.sources[key] ?? 'default'
  // Only the process knows what stands in its environment.
  const usual = source === 'env' ? '' : (field.default ?? '')
  return settingRow(editor, { key, declaration: field, usual, source })
}

/** A field that leaves only the settings that hold what is typed, and buttons that lead to each group. */
export function groupTools(groups: HTMLElement): HTMLElement {
  const find = element('input', { id: 'find-setting', type: 'search', autocomplete: 'off' })
  const found = element('p', { class: 'hint', role: 'status' })
  find.addEventListener('input', () => {
    const wanted = find.value.trim().toLowerCase()
    const count = filter(groups, wanted)
    found.textContent =
      wanted === '' ? '' : `${count} ${count === 1 ? 'setting' : 'settings'} found.`
  })
  const jump = [...groups.querySelectorAll<HTMLElement>('.group > h2')].map((heading) => {
    const onclick = () => {
      // The page draws the heading again after each save.
      const now = groups.querySelector<HTMLElement>(`#${heading.id}`)
      now?.scrollIntoView()
      now?.focus({ preventScroll: true })
    }
    const button = element(
      'button',
      { type: 'button', class: 'small', onclick },
      heading.textContent,
    )
    return element('li', {}, button)
  })
  return element(
    'div',
    { class: 'tools' },
    element('label', { for: 'find-setting' }, 'Find a setting'),
    find,
    found,
    element('ul', { class: 'jump', 'aria-label': 'Groups of settings' }, jump),
  )
}

/** Shows the settings that hold a text, and the headings above them. The number of these settings. */
function filter(groups: HTMLElement, wanted: string): number {
  const rows = [...groups.querySelectorAll<HTMLElement>('.child > [data-key]')]
  for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted)
  for (const part of groups.querySelectorAll<HTMLElement>('.child, .group')) {
    part.hidden = !rows.some((row) => !row.hidden && part.contains(row))
  }
  return rows.filter((row) => !row.hidden).length
}
