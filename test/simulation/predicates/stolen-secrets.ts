import { type Exchange, succeeded } from '../history.js'
import { judged, type Predicate } from './judged.js'

/** Whether this act, answered with success, made what was shown worthless, which was set by `setBy` if by any act. */
function voids(act: Exchange, shown: Exchange, setBy: Exchange | undefined): boolean {
  if (!succeeded(act) || act.ended === null || act.ended >= shown.begun) return false
  if (shown.operation === 'grant')
    return act.operation === 'revokeSecret' && act.spends === shown.spends
  const replaces = act.operation === 'change' || act.operation === 'reset'
  const isNew = replaces && act.sets !== shown.spends && act.owner === shown.owner
  const isLater = setBy === undefined || (setBy.ended !== null && act.begun > setBy.ended)
  return isNew && isLater
}

/** I1 for what opens sessions and tokens: a password that was replaced and a secret that was revoked open none. */
export const stolenSecrets: Predicate = ({ exchanges }) =>
  judged(
    exchanges
      .filter((one) => {
        const opens =
          one.operation === 'login' || one.operation === 'tabLogin' || one.operation === 'grant'
        if (!opens || one.ended === null || one.spends === '') return false
        const setBy = exchanges.find(
          (other) => other.sets === one.spends && other.operation !== 'register',
        )
        return exchanges.some((act) => voids(act, one, setBy))
      })
      .map((one) => [one, succeeded(one)]),
  )
