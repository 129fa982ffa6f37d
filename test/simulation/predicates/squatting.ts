import { isSignIn, succeeded } from '../history.js'
import { judged, type Predicate } from './judged.js'

/** I9: a password that a stranger registers for an address of another opens nothing, before the owner comes and after. */
export const squatting: Predicate = ({ exchanges }) =>
  judged(
    exchanges
      .filter((one) => one.actor === 'squatter' && isSignIn(one) && one.ended !== null)
      .map((one) => [one, succeeded(one)]),
  )
