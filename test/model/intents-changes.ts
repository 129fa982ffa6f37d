import type { Action, Claim } from './spin/model.js'

/** Where a change that takes more than one step is. */
export const changeSteps = [
  ...[
    'noChange',
    'toTake0',
    'toTake1',
    'toEndSessions',
    'toRaiseFactors',
    'toTakeFactors',
    ...['toEndAgain', 'toTell'],
  ],
] as const

/** What happens to the account while intents wait. Each takes one of the changes that there may be. */
export function changeActions(): readonly Action[] {
  const step = (
    name: string,
    when: string,
    then: readonly string[],
    claims: readonly Claim[] = [],
  ): Action => ({ name, by: 'changer', when, effects: then, claims })
  const change = (name: string, when: string, then: readonly string[]) =>
    step(name, `${when} && change == noChange && changes > 0`, ['changes = changes - 1', ...then])

  const signsOut = ['session = session + 1', 'device = device + 1']
  const factor = (n: 0 | 1) => [
    change(`the removal of factor ${n} raises the epoch`, `factor${n}`, [
      'device = device + 1',
      `change = toTake${n}`,
    ]),
    step(`factor ${n} is removed`, `change == toTake${n}`, [
      `factor${n} = 0`,
      `stands${n} = 0`,
      `untold${n} = 0`,
      'change = noChange',
    ]),
  ]
  return [
    // Where the mailbox is not proved, it voids no link: whoever made the account could keep its owner out.
    change('the password is changed', '!disabled', [
      'credential = credential + proved',
      ...signsOut,
      'password = 3',
    ]),
    change('the address is changed', '!moved && !disabled', [
      'credential = credential + 1',
      ...['moved = 1', 'proved = 1', 'last = otherEffect'],
    ]),
    change('the owner confirms the mailbox and names the password', '!proved && !disabled', [
      ...['proved = 1', 'last = otherEffect'],
    ]),
    change('the backup codes are made anew', '!disabled', ['device = device + 1']),
    // An administrator may do these to an account that is disabled.
    change('sign-out everywhere', '1', signsOut),
    change('the account is disabled', '1', [
      'credential = credential + 1',
      ...signsOut,
      'disabled = 1',
    ]),
    change('the account is enabled', 'disabled', ['disabled = 0']),
    change('a newer link takes its place', 'linkThere', ['linkThere = 0']),
    change('the method is switched off', '!off', ['off = 1']),
    change('the method is switched on', 'off', ['off = 0']),
    ...factor(0),
    ...factor(1),
    ...resetActions(change, step),
    step('the change dies', 'change != noChange && faults > 0', ['change = noChange']),
    { ...step('the hour of the link passes', '!expired', ['expired = 1']), by: 'clock' },
  ]
}

type Step = (
  name: string,
  when: string,
  then: readonly string[],
  claims?: readonly Claim[],
) => Action

/** An administrator removes all factors of somebody who lost them. */
function resetActions(change: Step, step: Step): readonly Action[] {
  const begun = (n: 0 | 1) => `stale${n} = pending${n} || enrolAt${n} != idle || factor${n}`
  return [
    change('a reset of the factors ends what may be refreshed', '1', [
      'session = session + 1',
      'device = device + 1',
      'change = toEndSessions',
    ]),
    // Whatever is begun after this is begun by somebody who signed in anew.
    step('the reset ends the sessions', 'change == toEndSessions', [
      begun(0),
      begun(1),
      'access = 0',
      'change = toRaiseFactors',
    ]),
    step('the reset raises the epoch of factors', 'change == toRaiseFactors', [
      'device = device + 1',
      'change = toTakeFactors',
    ]),
    step('the reset takes the factors', 'change == toTakeFactors', [
      ...['stale0 = stale0 * 2', 'stale1 = stale1 * 2'],
      ...['factor0 = 0', 'factor1 = 0', 'pending0 = 0', 'stands0 = 0', 'stands1 = 0'],
      ...['untold0 = 0', 'untold1 = 0'],
      'change = toEndAgain',
    ]),
    // A login by a factor may have come in just before its removal.
    step('the reset ends the sessions again', 'change == toEndAgain', [
      ...['session = session + 1', 'device = device + 1'],
      'change = toTell',
    ]),
    step(
      'the reset is answered',
      'change == toTell',
      ['device = device + 1', 'change = noChange'],
      [
        {
          name: 'no factor outlives a reset of all factors',
          holds: '!(stands0 && stale0 == 2) && !(stands1 && stale1 == 2)',
        },
      ],
    ),
  ]
}
