import { openDialog } from '../../shared/dialog.ts'
import { type Child, element } from '../../shared/element.ts'
import { isSecretKey } from './environment-texts.ts'
import type { Module } from './module-types.ts'
import type { Conflict } from './rebase-edits.ts'

type Choice = 'theirs' | 'mine'

export interface ConflictQuestion {
  readonly module: Module
  readonly conflicts: readonly Conflict[]
  /** What people call a key. */
  readonly nameOf: (key: string) => string
}

/**
 * Asks of each conflict which of the two is to stand: what is stored now, or what this page wants. Resolves with the
 * conflicts that this page is to win; null where the operator left the dialog.
 */
export async function askConflicts(
  question: ConflictQuestion,
): Promise<readonly Conflict[] | null> {
  const { module, conflicts, nameOf } = question
  const choices = new Map<string, Choice>(conflicts.map(({ key }) => [key, 'theirs']))
  const answer = await openDialog<boolean>('Changed meanwhile', (close) => [
    element('p', {}, 'Another operator saved while you were editing. Choose what is to stand.'),
    conflicts.map((conflict, index) =>
      element(
        'fieldset',
        {},
        element('legend', {}, nameOf(conflict.key)),
        (['theirs', 'mine'] as const).map((choice) => {
          const id = `conflict-${index}-${choice}`
          const input = element('input', {
            id,
            type: 'radio',
            name: `conflict-${index}`,
            checked: choice === 'theirs',
            onchange: () => choices.set(conflict.key, choice),
          })
          const text = wordsOf(conflict, choice, isSecretKey(module, conflict.key))
          return element(
            'div',
            { class: 'field check' },
            input,
            element('label', { for: id }, text),
          )
        }),
      ),
    ),
    element(
      'div',
      { class: 'buttons' },
      element('button', { type: 'button', class: 'primary', onclick: () => close(true) }, 'Go on'),
      element('button', { type: 'button', onclick: () => close(false) }, 'Cancel'),
    ),
  ])
  if (answer !== true) return null
  return conflicts.filter(({ key }) => choices.get(key) === 'mine')
}

/** What each choice means for an element that came or went. */
const elementWords: Readonly<Record<Exclude<Conflict['kind'], 'text'>, Record<Choice, string>>> = {
  createdTwice: { theirs: 'Take the element that was added', mine: 'Write my values into it' },
  removedThere: { theirs: 'Leave it removed', mine: 'Add it again, with my values' },
  removedHere: { theirs: 'Keep it, as it was edited', mine: 'Remove it all the same' },
}

function wordsOf({ kind, theirs, mine }: Conflict, choice: Choice, isSecret: boolean): Child {
  if (kind !== 'text') return elementWords[kind][choice]
  if (isSecret) return choice === 'theirs' ? 'Take the secret that is stored now' : 'Keep my secret'
  return choice === 'theirs'
    ? ['Take the stored value: ', element('code', {}, theirs || 'empty')]
    : ['Keep my value: ', element('code', {}, mine || 'empty')]
}
