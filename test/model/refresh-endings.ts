import type { Action } from './spin/model.js'

/** Where an ending of the session by its owner or an administrator is. */
export const endingPlaces = ['noEnding', 'toDenyIt', 'toRevokeIt', 'toCloseIt'] as const

/** Where a change of the password that keeps this session is. */
export const changePlaces = ['noChange', 'toBar', 'toWritePassword', 'toAnswer'] as const

type Step = (name: string, when: string, effects: readonly string[]) => Action

const stepOf =
  (by: string): Step =>
  (name, when, effects) => ({ name, by, when, effects })

/** Logout ends this session alone; the others write the user first, then end it in the same steps. */
export function endingActions(): readonly Action[] {
  const step = stepOf('ender')
  const free = 'ending == noEnding && !ended && tries > 0'
  const tries = 'tries = tries - limited'
  const raise = [tries, 'epoch = epoch + 1', 'kept = 0', 'raised = 1', 'ending = toDenyIt']
  return [
    step('logout puts the session on the denylist', free, [
      tries,
      'denied = 1',
      'ending = toRevokeIt',
    ]),
    step('sign-out everywhere raises the epoch', `${free} && epoch < epochs`, raise),
    // Every family of before stays of an older epoch.
    step('the user is enabled again', 'disabled && epoch > 0', ['disabled = 0']),
    step('the user is disabled', `${free} && epoch < epochs`, [...raise, 'disabled = 1']),
    step('the ending puts the session on the denylist', 'ending == toDenyIt', [
      'denied = 1',
      'ending = toRevokeIt',
    ]),
    step('the ending revokes the row', 'ending == toRevokeIt', [
      'revoked = 1',
      'ending = toCloseIt',
    ]),
    step('the ending closes the document and is answered', 'ending == toCloseIt', [
      'closed = 1',
      'ended = 1',
      'ending = noEnding',
    ]),
    step('the ending dies', 'ending != noEnding && faults > 0', [
      'faults = faults - limited',
      'ending = noEnding',
    ]),
  ]
}

/**
 * The row first, under its generation, and the user afterwards: a change cut short has barred more
 * than it had to, and nothing less.
 */
export function changeActions(): readonly Action[] {
  const step = stepOf('changer')
  const gone = ['change = noChange', 'seen = 0', 'before0 = 0', 'before1 = 0']
  // The write asks for the epochs that it read: an ending of all sessions has ended this one too.
  const isOpen = '(epoch == 0 || kept)'
  return [
    step(
      'a password change reads the row',
      'change == noChange && !answered && !denied && epoch < epochs',
      ['before0 = held0 > 0', 'before1 = held1 > 0', 'seen = generation', 'change = toBar'],
    ),
    step('the change bars re-issues', 'change == toBar && seen == generation && !revoked', [
      'noReissueUpTo = seen',
      'seen = 0',
      'change = toWritePassword',
    ]),
    step('the change finds that the row moved on', 'change == toBar && seen != generation', [
      'seen = generation',
    ]),
    step('the change finds the row revoked', 'change == toBar && revoked', gone),
    step('the change writes the user', `change == toWritePassword && ${isOpen} && epoch < epochs`, [
      'epoch = epoch + 1',
      'kept = 1',
      'change = toAnswer',
    ]),
    step('the change finds an ending begun', `change == toWritePassword && !(${isOpen})`, gone),
    step('the change is answered', 'change == toAnswer', ['answered = 1', 'change = noChange']),
    step('the change dies', 'change != noChange && faults > 0', [
      'faults = faults - limited',
      ...gone,
    ]),
  ]
}

/** Time, a write that takes effect after its request stopped waiting, and a copy of the token. */
export function surroundings(): readonly Action[] {
  const clock = stepOf('clock')
  const store = stepOf('store')
  // By the time of its request: a deadline that passed since holds it up no more, and it moves none.
  const guard = 'lateShown == generation && !revoked && lateEpoch'
  const over = ['writer = 0', 'lateShown = 0', 'lateEpoch = 0']
  return [
    clock('the grace passes', 'elapsed < longest && !still', ['elapsed = elapsed + 1']),
    clock('half of the idle window passes', '!halfway && !still', ['halfway = 1']),
    clock('the idle deadline passes', 'halfway && !idle && !still', ['idle = 1']),
    clock('the cap passes', '!capped && !still', ['capped = 1']),
    store('a late write takes effect', `writer != 0 && ${guard}`, [
      'generation = generation + 1',
      'elapsed = 0',
      'winner = writer * (writer < 3)',
      'applied0 = applied0 || writer == 1',
      'applied1 = applied1 || writer == 2',
      ...over,
    ]),
    store('a late write misses', `writer != 0 && !(${guard})`, over),
    stepOf('thief')('the token is copied', 'held0 > held1 && place1 == nowhere && !denied', [
      'held1 = held0',
      'before1 = 0',
    ]),
  ]
}
