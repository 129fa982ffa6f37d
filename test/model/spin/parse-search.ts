import type { Promela } from './promela.js'

/** What the verifier said of its search. */
export interface Outcome {
  readonly errors: number
  readonly states: number
  /** Steps from one state to another, each once for each state that it leads from. */
  readonly transitions: number
  /** Of all steps, by what each is called and where it leads; empty where the search was stopped. */
  readonly fingerprint: string
  readonly megabytes: number
  readonly seconds: number
  /** Why the search does not count as having seen every state; empty for one that does. */
  readonly incomplete: readonly string[]
  /** Actions that happened at least once. */
  readonly taken: readonly string[]
}

const signsOfStopping = [
  'max search depth too small',
  'out of memory',
  'reached -DMEMLIM bound',
  'Search not completed',
  'hash array', // bit-state hashing, which forgets states
  'VECTORSZ',
]

/** Reads what a verifier of Spin prints. A text that does not say that it got to its end is no result. */
export function parseSearch(output: string, promela: Pick<Promela, 'actions'>): Outcome {
  const number = (pattern: RegExp): number | null => {
    const found = pattern.exec(output)?.[1]
    return found === undefined ? null : Number(found)
  }
  const errors = number(/errors: (\d+)/)
  const states = number(/([\d.e+]+) states, stored/)
  const signs = signsOfStopping.filter((sign) => output.includes(sign))
  const incomplete = [
    ...(errors === 0 ? signs : []),
    ...(errors === null || states === null ? ['the search did not get to its end'] : []),
  ]
  const taken = [...output.matchAll(/^taken (\d+)$/gm)].flatMap(
    ([, index]) => promela.actions[Number(index)] ?? [],
  )
  return {
    errors: errors ?? 1,
    states: states ?? 0,
    transitions: number(/([\d.e+]+) transitions/) ?? 0,
    fingerprint: /^fingerprint ([\da-f]{16})$/m.exec(output)?.[1] ?? '',
    megabytes: number(/([\d.]+)\ttotal actual memory usage/) ?? 0,
    seconds: number(/elapsed time ([\d.]+) seconds/) ?? 0,
    incomplete,
    taken,
  }
}
