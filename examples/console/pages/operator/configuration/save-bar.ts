import { element } from '../../shared/element.ts'

export interface SaveBar {
  readonly bar: HTMLElement
  /** Says how many changes wait to be saved, and which. */
  readonly show: (changes: readonly string[]) => void
  /** Says what happened last. */
  readonly tell: (text: string) => void
  readonly fail: (text: string) => void
}

interface SaveBarOptions {
  readonly onSave: () => Promise<void>
  readonly onDiscard: () => void
}

/** Stays in view at the bottom of the page. It saves once at a time. */
export function saveBar({ onSave, onDiscard }: SaveBarOptions): SaveBar {
  const status = element('p', { role: 'status' })
  const error = element('p', { class: 'error', role: 'alert' })
  const list = element('ul')
  const changes = element('details', {}, element('summary', {}, 'Which'), list)
  const save = element('button', { type: 'button', class: 'primary' }, 'Save')
  const discard = element('button', { type: 'button' }, 'Discard')
  let isSaving = false
  let isEmpty = true
  const send = async () => {
    if (isSaving || isEmpty) return
    isSaving = true
    error.textContent = ''
    save.setAttribute('aria-disabled', 'true')
    try {
      await onSave()
    } finally {
      isSaving = false
      save.setAttribute('aria-disabled', String(isEmpty))
    }
  }
  save.addEventListener('click', () => {
    send().catch(reportError)
  })
  discard.addEventListener('click', () => {
    if (!isSaving && !isEmpty) onDiscard()
  })
  return {
    bar: element(
      'div',
      { class: 'save-bar', role: 'region', 'aria-label': 'Changes' },
      element('div', { class: 'save-text' }, status, error, changes),
      element('div', { class: 'buttons' }, discard, save),
    ),
    show(names) {
      isEmpty = names.length === 0
      for (const button of [save, discard]) button.setAttribute('aria-disabled', String(isEmpty))
      changes.hidden = isEmpty
      list.replaceChildren(...names.map((name) => element('li', {}, name)))
      if (!isEmpty) error.textContent = ''
      const count = names.length === 1 ? '1 change is' : `${names.length} changes are`
      status.textContent = isEmpty ? 'Nothing has changed.' : `${count} not saved.`
    },
    tell(text) {
      error.textContent = ''
      status.textContent = text
    },
    fail(text) {
      error.textContent = text
    },
  }
}
