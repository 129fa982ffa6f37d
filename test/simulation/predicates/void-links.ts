import { succeeded } from '../history.js'
import { judged, type Predicate } from './judged.js'

const setsPassword = new Set(['change', 'reset'])

/** I7: a link that was mailed before the password was set anew, however that came about, sets none. */
export const voidLinks: Predicate = ({ exchanges, mails }) => {
  const mailedAt = new Map(mails.map(({ token, step }) => [token, step]))
  const set = exchanges.filter((one) => setsPassword.has(one.operation) && succeeded(one))
  return judged(
    exchanges
      .filter((one) => {
        const step = mailedAt.get(one.spends)
        if (one.operation !== 'reset' || one.ended === null || step === undefined) return false
        return set.some(({ owner, begun, ended }) => {
          return owner === one.owner && begun > step && ended !== null && ended < one.begun
        })
      })
      .map((one) => [one, succeeded(one)]),
  )
}
