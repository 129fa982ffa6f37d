import { isPosternError } from 'postern/client'
import { isAborted } from './action-button.ts'
import { type Child, element } from './element.ts'
import type { Field } from './field.ts'
import { problemText } from './problem-text.ts'

export interface FormOptions {
  readonly fields: readonly Field[]
  /** The words on the button. */
  readonly submit: string
  /** Marks a button that takes something away for good. */
  readonly isDangerous?: boolean
  /** Which field a refusal is about, by its code, where the refusal does not name one. */
  readonly fieldOf?: Readonly<Record<string, string>>
  /** What stands between the fields and the button, and beside the button. */
  readonly before?: Child
  readonly beside?: Child
  /** What it rejects with is shown at the field it is about, else above the button. */
  readonly onSubmit: () => Promise<void>
}

/**
 * A form whose errors stand at their fields. It sends once: a second submit waits for the first one's answer. The
 * first field with an error gets the focus.
 */
export function form(options: FormOptions): HTMLFormElement {
  const { fields, before = null, beside = null } = options
  const problem = element('p', { class: 'error', role: 'alert' })
  const style = options.isDangerous ? 'danger' : 'primary'
  const button = element('button', { type: 'submit', class: style }, options.submit)
  const rows = fields.map(({ row }) => row)
  const buttons = element('div', { class: 'buttons' }, button, beside)
  const made = element('form', { novalidate: true }, rows, before, problem, buttons)
  let isSending = false
  const send = async () => {
    if (isSending || !areComplete(fields)) return
    isSending = true
    problem.textContent = ''
    button.setAttribute('aria-disabled', 'true')
    try {
      await options.onSubmit()
    } catch (error) {
      if (isAborted(error)) return
      const about = refusedField(error, options)
      if (about === undefined) problem.textContent = problemText(error)
      else {
        about.fail(problemText(error, about.name))
        about.input.focus()
      }
    } finally {
      isSending = false
      button.removeAttribute('aria-disabled')
    }
  }
  made.addEventListener('submit', (event) => {
    event.preventDefault()
    send().catch(reportError)
  })
  return made
}

/** Marks what the browser itself finds missing or malformed, and moves to the first. */
function areComplete(fields: readonly Field[]): boolean {
  for (const { input, fail } of fields) fail(input.validity.valid ? null : missingText(input))
  const first = fields.find(({ input }) => !input.validity.valid)
  first?.input.focus()
  return first === undefined
}

function missingText({ validity, type, validationMessage }: HTMLInputElement): string {
  if (validity.valueMissing)
    return type === 'checkbox' ? 'Please tick this.' : 'Please fill this in.'
  if (validity.typeMismatch && type === 'email') return 'This is not an e-mail address.'
  return validationMessage
}

function refusedField(error: unknown, { fields, fieldOf = {} }: FormOptions): Field | undefined {
  if (!isPosternError(error) || error.kind !== 'problem') return undefined
  const name = fieldOf[error.code] ?? error.field
  return fields.find((one) => one.name === name)
}
