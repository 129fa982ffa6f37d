import type { Action, Claim } from './spin/model.js'

/** Where a request with the ticket is. */
export const ticketPlaces = ['noCode', 'toTakeTicket', 'toOpenSession'] as const

/**
 * A login that waits for its second factor, as two requests complete it, each with a code that was
 * accepted: the ticket is taken first, then a session is opened, and a fence asks about the account.
 */
export function ticketActions(n: 0 | 1): readonly Action[] {
  const by = `login${n}`
  const at = `ticketAt${n}`
  const action = (
    name: string,
    when: string,
    then: readonly string[],
    claims: readonly Claim[] = [],
  ): Action => ({ name: `${by} ${name}`, by, when, effects: then, claims })
  const fence = 'session == 0 && !disabled'
  const fault = 'faults = faults - limited'
  return [
    action(
      'shows the ticket and a code',
      `${at} == noCode && ticketThere && ticketVerdict == judged_good`,
      [`${at} = toTakeTicket`],
      [
        {
          name: 'a login goes on while all that it began with holds',
          holds: 'credential == 0 && session == 0 && device == 0 && !disabled && !off && !expired',
        },
      ],
    ),
    action(
      'finds the ticket void',
      `${at} == noCode && !(ticketThere && ticketVerdict == judged_good)`,
      [],
    ),
    // The request that showed the last of them died before it took the ticket.
    action('finds all of its codes used up', `${at} == noCode && ticketThere`, []),
    action(
      'shows one wrong code too many, which takes the ticket',
      `${at} == noCode && ticketThere`,
      ['ticketThere = 0', 'usedUp = 1'],
    ),
    action(
      'takes the ticket',
      `${at} == toTakeTicket && ticketThere`,
      ['ticketThere = 0', `${at} = toOpenSession`],
      [{ name: 'a ticket that wrong codes used up opens nothing', holds: '!usedUp' }],
    ),
    action('finds the ticket taken', `${at} == toTakeTicket && !ticketThere`, [`${at} = noCode`]),
    action(
      'takes the ticket, and the answer is lost',
      `${at} == toTakeTicket && ticketThere && faults > 0`,
      [fault, 'ticketThere = 0', `${at} = noCode`],
    ),
    action(
      'opens a session',
      `${at} == toOpenSession && ${fence}`,
      ['given = 1', `${at} = noCode`],
      [
        { name: 'a ticket gives one session', holds: '!given' },
        { name: 'a session is of the present epoch', holds: 'session == 0 && !disabled' },
        { name: 'nothing planted before the proof works', holds: '!owned' },
      ],
    ),
    action('is stopped by the fence', `${at} == toOpenSession && !(${fence})`, [`${at} = noCode`]),
    action('finds the method switched off', `${at} == toOpenSession && off`, [`${at} = noCode`]),
    action('dies with its replica', `${at} != noCode && faults > 0`, [fault, `${at} = noCode`]),
  ]
}

/** What a stranger who made the account tries with what they have from then. */
export function strangerActions(): readonly Action[] {
  const step = (name: string, when: string): Action => ({
    ...{ name, by: 'stranger', when, effects: [] },
    claims: [{ name: 'nothing planted before the proof works', holds: '!owned' }],
  })
  return [
    step('refreshes the session of the beginning', 'session == 0 && !disabled'),
    step('signs in with the password of the beginning', 'password == 0 && !disabled && !off'),
  ]
}
