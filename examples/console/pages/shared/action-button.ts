import { type Attributes, element } from './element.ts'
import { problemText } from './problem-text.ts'

export interface ActionOptions {
  readonly label: string
  readonly attributes?: Attributes
  readonly run: () => Promise<void>
}

/** A button that does one thing at a time, and says at its side why it could not. */
export function actionButton({ label, attributes = {}, run }: ActionOptions): HTMLElement {
  const error = element('span', { class: 'error', role: 'alert' })
  const button = element('button', { type: 'button', ...attributes }, label)
  let isRunning = false
  const act = async () => {
    if (isRunning) return
    isRunning = true
    error.textContent = ''
    button.setAttribute('aria-disabled', 'true')
    try {
      await run()
    } catch (failure) {
      if (!isAborted(failure)) error.textContent = problemText(failure)
    } finally {
      isRunning = false
      button.removeAttribute('aria-disabled')
    }
  }
  button.addEventListener('click', () => {
    act().catch(reportError)
  })
  return element('span', { class: 'action' }, button, error)
}

/** Whether it was given up: by the user, or because another user signed in. */
export function isAborted(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return error.name === 'AbortError' || ('kind' in error && error.kind === 'abort')
}
