import type { Clock } from '../../ports/clock.js'
import type { MayStill } from '../context/actor.js'

/** The guards of a route follow one another sooner as well. */
const freshMs = 1000

/** An editor that is asked again only where the edit has waited: for another edit, a validator, or a lost race. */
export function askingLate<E extends MayStill>(
  editor: E,
  since: number,
  clock: Pick<Clock, 'now'>,
): E {
  const askAgain = async (): Promise<void> => {
    if (clock.now() - since >= freshMs) await editor.askAgain?.()
  }
  return { ...editor, askAgain }
}
