import { type Exchange, succeeded } from '../history.js'
import { judged, type Predicate } from './judged.js'

const setsPassword = new Set(['change', 'reset'])

type MailedAt = ReadonlyMap<string, number>

/**
 * Whether only one of the two can have its effect, in whichever order they are written: a link and a change that shows the
 * password from before, or two links that were there when the other one was shown.
 */
function excludes(act: Exchange, shown: Exchange, mailedAt: MailedAt, all: readonly Exchange[]) {
  const step = mailedAt.get(shown.spends)
  if (act.owner !== shown.owner || step === undefined || step >= act.begun) return false
  if (act.operation === 'reset') {
    const other = mailedAt.get(act.spends)
    return act.spends !== shown.spends && other !== undefined && other < shown.begun
  }
  const isMeanwhile = (act.ended ?? 0) > shown.begun && act.begun < (shown.ended ?? 0)
  const isOlder = all.every(({ sets, ended }) => {
    return sets !== act.spends || (ended !== null && ended < shown.begun)
  })
  return isMeanwhile && isOlder
}

/** I7: a link that was mailed before the password was set anew, however that came about, sets none. */
export const voidLinks: Predicate = ({ exchanges, mails }) => {
  const mailedAt = new Map(mails.map(({ token, step }) => [token, step]))
  const set = exchanges.filter((one) => setsPassword.has(one.operation) && succeeded(one))
  return judged(
    exchanges
      .filter((one) => {
        const step = mailedAt.get(one.spends)
        if (one.operation !== 'reset' || one.ended === null || step === undefined) return false
        return set.some((act) => {
          const { owner, begun, ended } = act
          const isBefore = begun > step && ended !== null && ended < one.begun
          return owner === one.owner && (isBefore || excludes(act, one, mailedAt, exchanges))
        })
      })
      .map((one) => [one, succeeded(one)]),
  )
}
