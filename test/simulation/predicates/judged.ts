import type { Exchange, History } from '../history.js'

export interface Judged {
  /** How often the predicate had something to say. */
  readonly premises: number
  readonly violations: readonly string[]
}

export type Predicate = (history: History) => Judged

const told = ({ actor, operation, session, begun }: Exchange): string =>
  `${actor} ${operation} of ${session} at ${begun}`

/** Of each of these exchanges, whether it is wrong. */
export function judged(pairs: readonly (readonly [Exchange, boolean])[]): Judged {
  const violations = pairs.filter(([, isWrong]) => isWrong).map(([exchange]) => told(exchange))
  return { premises: pairs.length, violations }
}
