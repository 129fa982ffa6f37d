import { type Exchange, inStep, type Operation, succeeded } from '../history.js'
import { judged, type Predicate } from './judged.js'

const once: ReadonlySet<Operation> = new Set<Operation>(['reset', 'verify', 'second'])

/** How many steps of an authenticator app after its own a code may still be good, and one more. */
const nearSteps = 2

/** The same link or code. Long after, an app may come to the same digits again. */
function isSame(one: Exchange, other: Exchange): boolean {
  const [code, step] = one.spends.split(inStep)
  const [otherCode, otherStep] = other.spends.split(inStep)
  if (step === undefined || otherStep === undefined) return one.spends === other.spends
  return code === otherCode && Math.abs(Number(step) - Number(otherStep)) <= nearSteps
}

/** I6: a mailed link and a code work once, however many show them, and wherever. */
export const oneWinner: Predicate = ({ exchanges }) => {
  const shown = exchanges.filter(({ operation, ended }) => once.has(operation) && ended !== null)
  const won = shown.filter(succeeded)
  return judged(
    shown.map((one) => {
      const others = won.filter((other) => {
        const isOwn = other.owner === one.owner && other.operation === one.operation
        return isOwn && other !== one && isSame(one, other)
      })
      return [one, succeeded(one) && others.length > 0]
    }),
  )
}
