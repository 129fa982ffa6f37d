import { verdictName } from './refresh-verdict.js'
import type { Action, Claim } from './spin/model.js'

/** Where a holder's request is; one that was answered or killed is nowhere. */
export const places = [
  ...['nowhere', 'read', 'missed', 'lost', 'granted'],
  ...['toDeny', 'toRevoke', 'toClose'],
] as const

/**
 * What a holder of refresh tokens does, each with one request at a time on a replica of its own. A
 * second tab and a thief are the same thing here: a holder who copied the first one's token.
 */
export function holderActions(n: number): readonly Action[] {
  const by = `holder${n}`
  const at = `place${n}`
  const verdict = (outcome: string) => `verdict${n} == ${verdictName(outcome)}`
  const looks = (outcome: string) => `(${at} == lost || ${at} == missed) && ${verdict(outcome)}`
  const action = (
    name: string,
    when: string,
    effects: readonly string[],
    claims: readonly Claim[] = [],
  ): Action => ({ name: `${by} ${name}`, by, when, effects, claims })

  const guard = `held${n} == generation && !revoked && !idle && !capped && epochHolds${n}`
  const rotates = ['generation = generation + 1', `winner = ${n + 1}`, 'elapsed = 0', 'halfway = 0']
  // What the rest of a request does not ask for is forgotten, or it would tell states apart.
  const forgetsRow = [
    `epochHolds${n} = 0`,
    `applied${n} = 0`,
    `winner = winner * (winner != ${n + 1})`,
    `writer = writer + (writer == ${n + 1}) * ${2 - n}`,
  ]
  const goesOn = (place: string) => [`${at} = ${place}`, ...forgetsRow]
  const leaves = (place: string) => [...goesOn(place), `late${n} = 0`, `early${n} = 0`]
  const ends = leaves('nowhere')
  const isLate: Claim = { name: 'no grant begun after an ending', holds: `!late${n}` }
  const inTime: Claim = {
    name: 'no grant beyond the cap or the idle deadline',
    holds: '!capped && !idle',
  }
  const survives = `answered && before${n} && !early${n}`

  return [
    action(
      'asks, is not denied, and signs',
      `${at} == nowhere && held${n} > 0 && held${n} < newest && !denied && !disabled`,
      [
        `epochHolds${n} = kept || epoch == 0`,
        `late${n} = ended || revoked || disabled || raised`,
        `early${n} = !answered`,
        `${at} = read`,
      ],
    ),
    action(
      'asks and finds an ending begun',
      `${at} == nowhere && held${n} > 0 && (denied || disabled) && !revoked`,
      [`${at} = toDeny`],
    ),
    action(
      'asks and finds the row revoked',
      `${at} == nowhere && held${n} > 0 && (denied || disabled) && revoked`,
      [`${at} = toClose`],
    ),

    action(
      'writes and wins',
      `${at} == read && ${guard}`,
      [...rotates, ...goesOn('granted')],
      [inTime],
    ),
    action('writes and misses', `${at} == read && !(${guard})`, [`${at} = missed`]),
    action('writes, and the answer is lost', `${at} == read && ${guard} && faults > 0`, [
      ...rotates,
      'faults = faults - limited',
      `applied${n} = 1`,
      `${at} = lost`,
    ]),
    action('fails to write', `${at} == read && faults > 0`, [
      'faults = faults - limited',
      `${at} = lost`,
    ]),
    action('stops waiting for its write', `${at} == read && writer == 0 && faults > 0`, [
      'faults = faults - limited',
      `writer = ${n + 1}`,
      `lateShown = held${n}`,
      `lateEpoch = epochHolds${n}`,
      `${at} = lost`,
    ]),

    action('reads its own rotation', looks('alreadyRotated'), goesOn('granted')),
    action('reads that it came second, in the grace', looks('reissue'), goesOn('granted'), [
      { name: 'a re-issue is of the current generation', holds: `held${n} + 1 == generation` },
      { name: 'a re-issue is within the grace', holds: 'elapsed == 0 && !strict' },
      inTime,
    ]),
    action('cannot tell misuse from a lost answer', `${at} == lost && ${verdict('replay')}`, ends),
    action('cannot tell whether it wrote', `${at} == lost && ${verdict('current')}`, ends),
    action('reads a replay', `${at} == missed && ${verdict('replay')}`, leaves('toDeny'), [
      { name: 'a request whose own write took effect finds no replay', holds: `!applied${n}` },
    ]),
    action('reads that the row is revoked', looks('revoked'), leaves('toClose')),
    action('reads that the session is idle', looks('expired'), ends),
    action('reads that the session is outdated', looks('outdated'), leaves('toDeny')),
    action('reads that the cap is reached', looks('maxAge'), leaves('toDeny')),

    action(
      'gets its tokens',
      `${at} == granted`,
      [
        `held${n} = held${n} + 1`,
        `survivors = survivors || (${survives})`,
        `before${n} = before${n} && !(${survives})`,
        ...ends,
      ],
      [
        isLate,
        {
          name: 'after a password change one holder of a token goes on',
          holds: `!(${survives} && survivors)`,
        },
      ],
    ),
    // `GET session`: judged by the row, and nothing is written.
    action(
      'views the session',
      `${at} == read && (${verdict('current')} || ${verdict('reissue')})`,
      ends,
      [isLate, inTime],
    ),

    action('puts the session on the denylist', `${at} == toDeny`, [
      'denied = 1',
      `${at} = toRevoke`,
    ]),
    action('revokes the row', `${at} == toRevoke`, ['revoked = 1', `${at} = toClose`]),
    action('closes the document and is refused', `${at} == toClose`, [
      'closed = 1',
      'ended = 1',
      ...ends,
    ]),

    action('dies with its replica', `${at} != nowhere && faults > 0`, [
      'faults = faults - limited',
      ...ends,
    ]),
    action(
      'calls a guarded route',
      `held${n} > 0 && !denied && !disabled`,
      [],
      [{ name: 'no access after an ending was answered', holds: '!ended' }],
    ),
  ]
}
