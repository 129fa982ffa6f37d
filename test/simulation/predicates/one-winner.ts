import { type Operation, succeeded } from '../history.js'
import { judged, type Predicate } from './judged.js'

const once: ReadonlySet<Operation> = new Set<Operation>(['reset', 'verify', 'second'])

/** I6: a mailed link and a code work once, however many show them, and wherever. */
export const oneWinner: Predicate = ({ exchanges }) => {
  const shown = exchanges.filter(({ operation, ended }) => once.has(operation) && ended !== null)
  const won = shown.filter(succeeded)
  return judged(
    shown.map((one) => {
      const others = won.filter((other) => {
        const isSame = other.owner === one.owner && other.operation === one.operation
        return isSame && other !== one && other.spends === one.spends
      })
      return [one, succeeded(one) && others.length > 0]
    }),
  )
}
