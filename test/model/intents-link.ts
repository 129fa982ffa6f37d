import type { Action, Claim } from './spin/model.js'

/** Where a request with the link is. */
export const linkPlaces = ['noRequest', 'toWrite', 'lostWrite', 'toEnd', 'toTake'] as const

/**
 * A mailed link that replaces the password, as two requests show it, each with a password of its own:
 * the effect first, then the end of the sessions, and the link is taken last. Of an account whose
 * mailbox nobody proved, the write is that of the owner's proof.
 */
export function linkActions(n: 0 | 1): readonly Action[] {
  const by = `link${n}`
  const at = `linkAt${n}`
  const own = `${n + 1}`
  const action = (
    name: string,
    when: string,
    then: readonly string[],
    claims: readonly Claim[] = [],
  ): Action => ({ name: `${by} ${name}`, by, when, effects: then, claims })

  const judged = (verdict: string) => `linkThere && linkVerdict == judged_${verdict}`
  const asks = `${at} == noRequest && !done${n} && !told${n}`
  const fault = 'faults = faults - limited'
  const leaves = [
    `${at} = noRequest`,
    `proof${n} = 0`,
    `linkWinner = linkWinner * (linkWinner != ${own})`,
  ]
  const goesOn = [`${at} = toEnd`, ...leaves.slice(1)]
  const guard = `credential == 0 && !disabled && (!proof${n} || !proved)`
  const writes = linkWrite(own, `proof${n}`)

  return [
    action(
      'opens it',
      `${asks} && ${judged('good')}`,
      [`${at} = toWrite`, `proof${n} = !proved`],
      [
        { name: 'a link is good while its method is on', holds: '!off' },
        { name: 'a link is good at the address it was mailed to', holds: '!moved' },
      ],
    ),
    action(
      'goes on where a request with this password was cut off',
      `${asks} && ${judged('interrupted')} && password == ${own}`,
      [`${at} = toEnd`],
    ),
    action(
      'shows another password than was written',
      `${asks} && ${judged('interrupted')} && password != ${own}`,
      [`told${n} = limited`],
    ),
    action(
      'is refused',
      `${asks} && !(${judged('good')}) && !(${judged('interrupted')})`,
      [`told${n} = limited`],
      [
        {
          name: 'sign-out everywhere voids no link',
          holds: '!linkThere || credential > 0 || moved || disabled || off || expired',
        },
      ],
    ),

    action(
      'writes',
      `${at} == toWrite && ${guard}`,
      [...writes, 'linkWinner = 0', ...goesOn],
      writeClaims(`proof${n}`),
    ),
    // By then, another request with the link may have written what this one was to write.
    action('misses, and finds its effect written', missed('=='), goesOn),
    action('misses, and finds another password written', missed('!='), [
      ...leaves,
      `told${n} = limited`,
    ]),
    action(
      'misses, and finds the account changed',
      `${at} == toWrite && !(${guard}) && linkVerdict != judged_interrupted`,
      [...leaves, `told${n} = limited`],
      [
        {
          name: 'a request whose effect is written is not refused',
          holds: `linkSet != ${own} || last != linkEffect || credential > 1 || disabled || expired`,
        },
      ],
    ),
    action(
      'writes, and the answer is lost',
      `${at} == toWrite && ${guard} && faults > 0`,
      [...writes, fault, `linkWinner = ${own}`, `${at} = lostWrite`],
      writeClaims(`proof${n}`),
    ),
    action('fails to write', `${at} == toWrite && faults > 0`, [fault, `${at} = lostWrite`]),
    action('stops waiting for its write', `${at} == toWrite && writer == 0 && faults > 0`, [
      fault,
      `writer = ${own}`,
      `lateProof = proof${n}`,
      `${at} = lostWrite`,
    ]),
    action(
      'reads its own write',
      `${at} == lostWrite && linkWinner == ${own} && password == ${own}`,
      goesOn,
    ),
    action(
      'cannot tell whether it wrote',
      `${at} == lostWrite && !(linkWinner == ${own} && password == ${own})`,
      leaves,
    ),
    action('ends all sessions', `${at} == toEnd`, ['access = 0', `${at} = toTake`]),
    action(
      'takes the link and is answered',
      `${at} == toTake`,
      ['linkThere = 0', `done${n} = 1`, `${at} = noRequest`],
      [
        { name: 'a link is answered with the effect it had', holds: `linkSet == ${own}` },
        { name: 'a link is answered when the sessions are ended', holds: '!access' },
      ],
    ),
    action('takes the link, and the answer is lost', `${at} == toTake && faults > 0`, [
      fault,
      'linkThere = 0',
      `${at} = noRequest`,
    ]),
    action('dies with its replica', `${at} != noRequest && faults > 0`, [fault, ...leaves]),
  ]

  function missed(compared: string): string {
    const isWritten = `linkVerdict == judged_interrupted && password ${compared} ${own}`
    return `${at} == toWrite && !(${guard}) && ${isWritten}`
  }
}

function writeClaims(proof: string): readonly Claim[] {
  return [
    { name: 'a link has its effect once', holds: 'linkSet == 0' },
    { name: 'a link finds the address it was mailed to', holds: '!moved' },
    { name: 'a mailbox is proved once', holds: `!${proof} || !proved` },
  ]
}

/** The one guarded write on the user. */
function linkWrite(who: string, proof: string): readonly string[] {
  return [
    'credential = credential + 1',
    'session = session + 1',
    'device = device + 1',
    `password = ${who}`,
    `linkSet = ${who}`,
    'last = linkEffect',
    `owned = owned || ${proof}`,
    `proved = proved || ${proof}`,
  ]
}

/** A write that takes effect after its request stopped waiting. */
export function lateWrites(): readonly Action[] {
  const guard = 'credential == 0 && !disabled && (!lateProof || !proved)'
  const over = ['writer = 0', 'lateProof = 0']
  const waits = (n: 0 | 1) => `(writer == ${n + 1} && linkAt${n} == lostWrite)`
  return [
    {
      ...{ name: 'a late write of the link takes effect', by: 'store' },
      when: `writer != 0 && ${guard}`,
      effects: [
        `linkWinner = writer * (${waits(0)} || ${waits(1)})`,
        ...linkWrite('writer', 'lateProof'),
        ...over,
      ],
      claims: writeClaims('lateProof'),
    },
    {
      ...{ name: 'a late write of the link misses', by: 'store' },
      when: `writer != 0 && !(${guard})`,
      effects: over,
    },
  ]
}
