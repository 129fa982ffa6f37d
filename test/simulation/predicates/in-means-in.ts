import type { Exchange } from '../history.js'
import { ends } from './endings.js'
import { judged, type Predicate } from './judged.js'

const uses = new Set(['me', 'refresh'])

/** I2: an owner who is refused with 401 or 403 has an ending, a fault, a second holder or the time to blame. */
export const inMeansIn: Predicate = ({ exchanges }) => {
  const isCause = (refused: Exchange, other: Exchange): boolean => {
    if (other.begun > (refused.ended ?? 0)) return false
    if (ends(other, refused.session, refused.owner)) return true
    const isSecond = other.struck || other.actor.includes('thief')
    return other.session === refused.session && isSecond
  }
  return judged(
    exchanges
      .filter(({ actor, operation, ended }) => {
        return !actor.includes('thief') && uses.has(operation) && ended !== null
      })
      .map((exchange) => {
        const { status, shown, endedAt } = exchange
        const isRefused = status === 401 || status === 403
        const isOver = shown !== null && endedAt >= shown.exp
        const isCaused = !isRefused || isOver || exchanges.some((other) => isCause(exchange, other))
        return [exchange, !isCaused]
      }),
  )
}
