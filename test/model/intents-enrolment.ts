import type { Action, Claim } from './spin/model.js'

/** Where a request that confirms a factor is. */
export const enrolmentPlaces = [
  ...['idle', 'toLook', 'toClaim', 'toStore', 'toMoveOn', 'toTakeBack', 'toGoOn'],
] as const

/**
 * A new factor: 0 is an authenticator app, whose secret waits until its first code is right, and 1 a
 * passkey, whose challenge is taken first. Either is begun in a session or by a login that lacks a
 * factor (`lacks`). The epoch is claimed first, then the factor is stored, and the epoch moved once more:
 * whatever was begun in between was begun before there was this factor.
 * One whose request died before that is found by the sweep (`untold`), which goes on if nothing has had an
 * effect on the account since. If another intent had one, the sweep only tells: no claim is made about that.
 */
export function enrolmentActions(n: 0 | 1): readonly Action[] {
  const by = `enrolment${n}s`
  const at = `enrolAt${n}`
  const effect = `enrolment${n}`
  const other = 1 - n
  const action = (
    name: string,
    when: string,
    then: readonly string[],
    claims: readonly Claim[] = [],
  ): Action => ({ name: `${n === 0 ? 'app' : 'passkey'} ${name}`, by, when, effects: then, claims })

  const fault = 'faults = faults - limited'
  const leaves = [`${at} = idle`]
  const takesChallenge = n === 1 ? ['pending1 = 0'] : []
  const isGood = `enrolmentVerdict${n} == judged_good || enrolmentVerdict${n} == judged_interrupted`
  const guard = `device == seenDevice${n} && credential == seenCredential${n} && !disabled`
  // Of an earlier request. A challenge is spent by its first.
  const isOurs =
    n === 1
      ? '0'
      : `last == ${effect} && device == seenDevice${n} + 1 && credential == seenCredential${n} && !disabled`
  // Begun in a session, it ends the others by the same write.
  const claims = ['device = device + 1', `session = session + 1 - lacks${n}`, `last = ${effect}`]
  const confirms = `${at} == idle && pending${n} && proved`
  // The secret of an app is confirmed by a guarded write, so that a reset that took it is noticed.
  const isStorable = n === 0 ? 'pending0' : '1'
  const stores = [`factor${n} = 1`, `pending${n} = 0`, `untold${n} = 1`]
  const still = `device == seenDevice${n} + 1 && credential == seenCredential${n} && !disabled`

  const settles = ['device = device + 1', `settled${n} = 1`, `stands${n} = factor${n}`]
  const takesBack = [`factor${n} = 0`, `untold${n} = 0`]
  const ofStanding = [
    {
      name: 'of two factors begun at once one stands',
      holds: `!(stands${other} && seenDevice${other} == seenDevice${n})`,
    },
    {
      name: 'no factor stands that was begun before the present first one',
      holds: `!(stands${other} && !beside${n})`,
    },
    { name: 'no factor outlives a reset of all factors', holds: `stale${n} != 2` },
  ]
  const isUntold = `${at} == idle && untold${n}`
  const isUnsettled = `${isUntold} && last == ${effect} && !settled${n}`
  const ofSweep = [
    action(
      'is completed by the sweep',
      `${isUnsettled} && ${still}`,
      [...settles, `untold${n} = 0`],
      ofStanding,
    ),
    action('is taken back by the sweep', `${isUnsettled} && !(${still})`, takesBack),
    action('is told of by the sweep', `${isUntold} && (last != ${effect} || settled${n})`, [
      `untold${n} = 0`,
    ]),
  ]

  return [
    action(
      'is begun',
      `${at} == idle && !factor${n} && proved && !disabled && !off && device < latest && (!lacks${n} || lackingVerdict == judged_good)`,
      [
        `pending${n} = 1`,
        `seenDevice${n} = device`,
        `seenCredential${n} = credential`,
        `stale${n} = 0`,
        `settled${n} = 0`,
        `beside${n} = factor${other}`,
        // Its id is a new one.
        `last = last + (otherEffect - ${effect}) * (last == ${effect})`,
      ],
    ),
    action('is confirmed in a session', `${confirms} && !lacks${n} && (${isGood})`, [
      ...takesChallenge,
      `${at} = toClaim`,
    ]),
    action(
      'is confirmed by a login that reads the account',
      `${confirms} && lacks${n} && accountVerdict == judged_good && (${isGood})`,
      [`${at} = toLook`],
    ),
    action('finds that the login lacks a factor', `${at} == toLook && !factor0 && !factor1`, [
      ...takesChallenge,
      `${at} = toClaim`,
    ]),
    action('finds that the login has a factor', `${at} == toLook && (factor0 || factor1)`, leaves),

    action('claims the epoch', `${at} == toClaim && ${guard}`, [...claims, `${at} = toStore`]),
    action(
      'claims the epoch, and the answer is lost',
      `${at} == toClaim && ${guard} && faults > 0`,
      [...claims, fault, ...leaves],
    ),
    ...(n === 0
      ? [
          action('finds the epoch its own', `${at} == toClaim && !(${guard}) && ${isOurs}`, [
            `${at} = toStore`,
          ]),
          action('is stored no more', `${at} == toStore && !pending0`, leaves),
        ]
      : []),
    action('finds the epoch moved', `${at} == toClaim && !(${guard}) && !(${isOurs})`, leaves),
    action(
      'is stored',
      `${at} == toStore && ${isStorable}`,
      [...stores, `${at} = toMoveOn`],
      [{ name: 'an unproved account takes no factor', holds: 'proved' }],
    ),
    action(
      'stands',
      `${at} == toMoveOn && ${still}`,
      [...settles, `untold${n} = 0`, `${at} = toGoOn * lacks${n}`],
      ofStanding,
    ),
    action('stands, and the answer is lost', `${at} == toMoveOn && ${still} && faults > 0`, [
      ...['device = device + 1', `settled${n} = 1`],
      fault,
      ...leaves,
    ]),
    action('finds that something came between', `${at} == toMoveOn && !(${still})`, [
      `${at} = toTakeBack`,
    ]),
    action('is taken back', `${at} == toTakeBack`, [...takesBack, ...leaves]),
    ...ofSweep,
    action(
      'lets its login go on',
      `${at} == toGoOn && ownFactorVerdict${n} == judged_good`,
      leaves,
      [
        {
          name: 'a login goes on while all that it inherits holds',
          holds: 'credential == 0 && session == 0 && !disabled && !off',
        },
      ],
    ),
    action(
      'finds its login void',
      `${at} == toGoOn && ownFactorVerdict${n} != judged_good`,
      leaves,
    ),
    action('dies with its replica', `${at} != idle && faults > 0`, [fault, ...leaves]),
  ]
}
