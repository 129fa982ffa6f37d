import { succeeded } from '../history.js'
import { judged, type Predicate } from './judged.js'

/** A token that has ended still signs its session out. */
const endsOnly = new Set(['logout'])

/** I3: no token does anything else at or after the time at which it says that it ends. */
export const lifetimes: Predicate = ({ exchanges }) =>
  judged(
    exchanges
      .filter(({ operation, shown, begunAt, ended }) => {
        const isOver = shown !== null && begunAt >= shown.exp
        return isOver && ended !== null && !endsOnly.has(operation)
      })
      .map((exchange) => [exchange, succeeded(exchange)]),
  )
