import { type Operation, succeeded } from '../history.js'
import { judged, type Predicate } from './judged.js'

/** A token that has ended still signs its session out. */
const endsOnly: ReadonlySet<Operation> = new Set<Operation>(['logout', 'tabLogout'])

/** I3: no token does anything else at or after the time at which it says that it ends, by the slowest clock. */
export const lifetimes: Predicate = ({ exchanges, profile }) => {
  const behind = Math.max(0, ...profile.skews.map((skew) => -skew))
  return judged(
    exchanges
      .filter(({ operation, shown, begunAt, ended }) => {
        const isOver = shown !== null && begunAt - behind >= shown.exp
        return isOver && ended !== null && !endsOnly.has(operation)
      })
      .map((exchange) => [exchange, succeeded(exchange)]),
  )
}
