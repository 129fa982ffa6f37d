import { type Exchange, type Operation, succeeded } from '../history.js'
import { completable } from './completable.js'
import { judged, type Predicate } from './judged.js'

/** How long another process may go by the settings of before. */
const staleMs = 30_000

const byPassword: ReadonlySet<Operation> = new Set<Operation>(['login', 'tabLogin', 'reset'])

/** Whether the login by password was off for certain when this began, and stayed so. */
function isShut(one: Exchange, exchanges: readonly Exchange[]): boolean {
  return exchanges.some((act) => {
    if (act.operation !== 'closePasswords' || !succeeded(act) || act.ended === null) return false
    const isSame = act.replica === one.replica
    const isSeen = act.ended < one.begun && (isSame || one.begunAt >= act.endedAt + staleMs)
    return isSeen && !exchanges.some((other) => mayReopen(other, act, one))
  })
}

/** An answer that says nothing may come about later. */
const mayReopen = (other: Exchange, act: Exchange, one: Exchange): boolean =>
  other.operation === 'openPasswords' &&
  other.begun < (one.ended ?? Number.MAX_VALUE) &&
  (other.struck || other.ended === null || other.ended > act.begun)

/**
 * I1 for a switch: what it shuts is shut at once in its process, and 30 seconds later in every other. A reset that was
 * written before may be completed.
 */
export const switchedOff: Predicate = ({ exchanges }) => {
  const isNew = (one: Exchange): boolean =>
    completable(one, exchanges).every((earlier) => isShut(earlier, exchanges))
  return judged(
    exchanges
      .filter(
        (one) => byPassword.has(one.operation) && one.ended !== null && isShut(one, exchanges),
      )
      .filter(isNew)
      .map((one) => [one, succeeded(one)]),
  )
}
