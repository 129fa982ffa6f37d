import { type Exchange, isUse, succeeded } from '../history.js'
import { ends, sessionsBefore } from './endings.js'
import { judged, type Predicate } from './judged.js'
import { livesOnAlone } from './lives-on-alone.js'

/**
 * When each session was certainly over, by acts that were answered with success. A session that is over asks to end all
 * others as a repetition of what ended it, which ends no newer one.
 */
function endsOf(exchanges: readonly Exchange[]): ReadonlyMap<string, number> {
  const over = new Map<string, number>()
  const inOrder = exchanges.toSorted((one, other) => (one.ended ?? 0) - (other.ended ?? 0))
  for (const act of inOrder) {
    const { operation, ended, session, begun } = act
    if (ended === null || !succeeded(act) || (over.get(session) ?? begun) < begun) continue
    const isOne = operation === 'logout' || operation === 'tabLogout'
    const isAlone = isOne || mayBeRepetition(act, exchanges)
    const concerned = isAlone ? [session] : sessionsBefore(act, exchanges)
    for (const one of concerned) {
      if (ends(act, one, act.owner)) over.set(one, Math.min(ended, over.get(one) ?? ended))
    }
  }
  return over
}

/** Whether another act, answered or not, may have ended the session before it asked to end all. */
function mayBeRepetition(act: Exchange, exchanges: readonly Exchange[]): boolean {
  const { operation, session, owner, ended } = act
  if (operation !== 'logoutEverywhere' || ended === null) return false
  return exchanges.some((one) => {
    const isItself = one.operation === operation && one.session === session
    return !isItself && one.begun < ended && ends(one, session, owner)
  })
}

/** I1: no request that began after its session's ending was answered succeeds, on any replica. */
export const outMeansOut: Predicate = (history) => {
  const { exchanges } = history
  const over = endsOf(exchanges)
  return judged(
    exchanges
      .filter((one) => {
        const end = over.get(one.session)
        return isUse(one) && one.ended !== null && end !== undefined && one.begun > end
      })
      .filter((one) => !livesOnAlone(one, history))
      .map((exchange) => [exchange, succeeded(exchange)]),
  )
}
