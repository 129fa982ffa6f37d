import type { Action, Claim } from './spin/model.js'

/** Where an editor's request is. */
export const editorPlaces = [
  ...['notAsked', 'toPlan', 'toWrite', 'missed', 'lost', 'written'],
  ...['answered', 'refused', 'failed'],
] as const

/** What one administrator does, with one request, on a replica of its own: a replica lets one edit at a time in. */
export function editorActions(n: number): readonly Action[] {
  const by = `editor${n}`
  const at = `place${n}`
  const action = (
    name: string,
    when: string,
    effects: readonly string[],
    claims: readonly Claim[] = [],
  ): Action => ({ name: `${by} ${name}`, by, when, effects, claims })
  const reads = [`seen${n} = revision`, `seenA${n} = a`, `seenB${n} = b`, `${at} = toPlan`]
  const guard = `seen${n} == revision`
  const commits = [
    'revision = revision + 1',
    `a = afterA${n}`,
    `b = afterB${n}`,
    `wrote${n} = revision`,
    `applied${n} = applied${n} + 1`,
  ]
  const fault = 'faults = faults - 1'
  const onNewest: Claim = {
    name: 'a write builds on the newest values',
    holds: `seenA${n} == a && seenB${n} == b`,
  }
  const asStated: Claim = {
    name: 'a stated revision is the one that is replaced',
    holds: `kind${n} != setsStated || stated${n} == revision`,
  }
  const claims = [onNewest, asStated]
  const ofConflict: readonly Claim[] = [
    { name: 'a revision that is refused is not the newest', holds: `stated${n} != revision` },
    {
      name: 'a conflict of revisions is told to who stated one',
      holds: `kind${n} == setsStated`,
    },
  ]

  return [
    action(
      'has read the environment and states its revision',
      `${at} == notAsked && kind${n} == setsStated && stated${n} == 0`,
      [`stated${n} = revision`],
    ),
    action(
      'asks',
      `${at} == notAsked && (kind${n} != setsStated || stated${n} > 0) && revision < newest`,
      [`first${n} = revision`, ...reads],
    ),
    action(
      'is refused: there is the element',
      `${at} == toPlan && plan${n} == elementConflict`,
      [`${at} = refused`],
      [
        {
          name: 'an element that is refused is there',
          holds: `(kind${n} == createsA && a) || (kind${n} == createsB && b)`,
        },
      ],
    ),
    action(
      'is refused: another revision',
      `${at} == toPlan && plan${n} == revisionConflict`,
      [`${at} = refused`],
      ofConflict,
    ),
    action(
      'keeps a record of the revision that it replaces',
      `${at} == toPlan && plan${n} == planned`,
      [`recorded = recorded + (seen${n} > recorded)`, `${at} = toWrite`],
      [{ name: 'the history has no gap', holds: `seen${n} <= recorded + 1` }],
    ),

    action(
      'writes and wins',
      `${at} == toWrite && ${guard}`,
      [...commits, `${at} = written`],
      claims,
    ),
    action('writes and misses', `${at} == toWrite && !(${guard})`, [`${at} = missed`]),
    action(
      'writes, and the answer is lost',
      `${at} == toWrite && ${guard} && faults > 0`,
      [...commits, fault, `${at} = lost`],
      claims,
    ),
    action('fails to write', `${at} == toWrite && faults > 0`, [fault, `${at} = lost`]),
    action('stops waiting for its write', `${at} == toWrite && faults > 0`, [
      fault,
      `late${n} = 1`,
      `${at} = lost`,
    ]),
    action('dies', `(${at} == toPlan || ${at} == toWrite || ${at} == written) && faults > 0`, [
      fault,
      `${at} = failed`,
    ]),

    action('plans again', `${at} == missed && mayRetry${n} && tries${n} < most`, [
      `tries${n} = tries${n} + 1`,
      ...reads,
    ]),
    action(
      'gives up, since others were always faster',
      `${at} == missed && mayRetry${n} && tries${n} == most`,
      [`${at} = failed`],
      [
        {
          name: 'each lost race is the success of another',
          holds: `revision > first${n} + most`,
        },
      ],
    ),
    action(
      'is told of the conflict',
      `${at} == missed && !mayRetry${n}`,
      [`${at} = refused`],
      ofConflict,
    ),
    action('looks and finds its own write', `${at} == lost && wrote${n} == revision`, [
      `${at} = written`,
    ]),
    action("looks and finds another's", `${at} == lost && wrote${n} != revision`, [
      `${at} = failed`,
    ]),
    action(
      'is answered',
      `${at} == written`,
      [
        `madeA = madeA + (kind${n} == createsA)`,
        `madeB = madeB + (kind${n} == createsB)`,
        `${at} = answered`,
      ],
      [{ name: 'what is answered has taken effect once', holds: `applied${n} == 1` }],
    ),

    {
      name: `the late write of editor${n} takes effect`,
      by: 'store',
      when: `late${n} && ${guard}`,
      effects: [...commits, `late${n} = 0`],
      claims,
    },
    {
      name: `the late write of editor${n} misses`,
      by: 'store',
      when: `late${n} && !(${guard})`,
      effects: [`late${n} = 0`],
    },
  ]
}
