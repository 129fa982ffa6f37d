import { openDialog } from './dialog.ts'
import { element } from './element.ts'

export interface Question {
  readonly title: string
  /** What follows from it. */
  readonly text: string
  /** The words on the button that does it. */
  readonly action: string
}

/** Asks before something is taken away for good; true where the user says so. */
export async function isConfirmed({ title, text, action }: Question): Promise<boolean> {
  const answer = await openDialog<boolean>(title, (close) => [
    element('p', {}, text),
    element(
      'div',
      { class: 'buttons' },
      element('button', { type: 'button', class: 'danger', onclick: () => close(true) }, action),
      // It has the focus, so that a key that is pressed too early takes nothing away.
      element('button', { type: 'button', autofocus: true, onclick: () => close(false) }, 'Cancel'),
    ),
  ])
  return answer === true
}
