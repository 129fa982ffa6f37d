import { succeeded } from '../history.js'
import { judged, type Predicate } from './judged.js'

/** I5: once a replay was answered as one, no token of that session succeeds. */
export const replayEnds: Predicate = ({ exchanges }) => {
  const found = new Map<string, number>()
  for (const { code, session, ended } of exchanges) {
    if (code !== 'refresh_token_reused' || ended === null) continue
    found.set(session, Math.min(ended, found.get(session) ?? ended))
  }
  return judged(
    exchanges
      .filter(({ operation, session, begun, ended }) => {
        const at = found.get(session)
        const uses = operation === 'me' || operation === 'refresh'
        return uses && ended !== null && at !== undefined && begun > at
      })
      .map((exchange) => [exchange, succeeded(exchange)]),
  )
}
