import { isUse, succeeded } from '../history.js'
import { judged, type Predicate } from './judged.js'
import { livesOnAlone } from './lives-on-alone.js'

/** I5: once a replay was answered as one, no token of that session succeeds. */
export const replayEnds: Predicate = (history) => {
  const { exchanges } = history
  const found = new Map<string, number>()
  for (const { code, session, ended } of exchanges) {
    if (code !== 'refresh_token_reused' || ended === null) continue
    found.set(session, Math.min(ended, found.get(session) ?? ended))
  }
  return judged(
    exchanges
      .filter((one) => {
        const at = found.get(one.session)
        return isUse(one) && one.ended !== null && at !== undefined && one.begun > at
      })
      .filter((one) => !livesOnAlone(one, history))
      .map((exchange) => [exchange, succeeded(exchange)]),
  )
}
