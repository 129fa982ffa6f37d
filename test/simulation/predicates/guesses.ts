import { type Exchange, type History, isSignIn, type Operation, succeeded } from '../history.js'
import { judged, type Predicate } from './judged.js'

const windowMs = 15 * 60_000

const isGuessed = ({ operation, code, ended }: Exchange): boolean =>
  operation === 'login' && code === 'invalid_credentials' && ended !== null

const proofs: ReadonlySet<Operation> = new Set<Operation>(['reset', 'verify', 'change'])

/** What forgives the guesses at an address: its owner was proved. */
const forgives = (one: Exchange, owner: string): boolean =>
  one.owner === owner && succeeded(one) && (isSignIn(one) || proofs.has(one.operation))

/**
 * I12: of the wrong passwords for an address, no more than the threshold are looked at in a window. Two windows may meet in
 * any fifteen minutes, and each proof of the owner opens another. So does a counter that fails: a process counts alone then.
 * Each device that signed in before has a budget of its own, apart from that of the address.
 */
export const guesses: Predicate = ({ exchanges, profile }: History) => {
  const { lockoutThreshold, skews } = profile
  if (lockoutThreshold === 0 || skews.some((skew) => skew !== 0)) return judged([])
  const guessed = exchanges.filter(isGuessed)
  return judged(
    guessed.map((last) => {
      const isWithin = ({ endedAt, owner }: Exchange): boolean =>
        owner === last.owner && endedAt <= last.endedAt && endedAt > last.endedAt - windowMs
      const looked = guessed.filter(isWithin)
      const opens = (one: Exchange): boolean => forgives(one, last.owner) || one.struck
      const windows = exchanges.filter((one) => opens(one) && isWithin(one)).length
      const isKnown = ({ actor }: Exchange): boolean =>
        exchanges.some((one) => one.actor === actor && isSignIn(one) && forgives(one, last.owner))
      const budgets = 1 + new Set(looked.filter(isKnown).map(({ actor }) => actor)).size
      return [last, looked.length > lockoutThreshold * (2 + windows) * budgets]
    }),
  )
}
