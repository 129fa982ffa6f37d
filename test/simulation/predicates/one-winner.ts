import { succeeded } from '../history.js'
import { judged, type Predicate } from './judged.js'

/** I6: a mailed link sets a password once, however many show it, and wherever. */
export const oneWinner: Predicate = ({ exchanges }) => {
  const resets = exchanges.filter(({ operation, ended }) => operation === 'reset' && ended !== null)
  const won = resets.filter(succeeded)
  return judged(
    resets.map((one) => {
      const others = won.filter((other) => other !== one && other.spends === one.spends)
      return [one, succeeded(one) && others.length > 0]
    }),
  )
}
