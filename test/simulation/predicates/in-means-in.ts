import { type Exchange, isRefresh, isUse } from '../history.js'
import { ends } from './endings.js'
import { graceMs } from './grace.js'
import { judged, type Predicate } from './judged.js'

/** How long it took, or has taken until then. */
const lengthOf = ({ begunAt, ended, endedAt }: Exchange, now = endedAt): number =>
  (ended === null ? now : endedAt) - begunAt

/**
 * The sessions of which one tab refreshed twice while the request of another, which shows the cookie too, was on its
 * way: the grace is for the token before alone, so that this request counts as a replay.
 */
export function overtakenSessions(exchanges: readonly Exchange[]): ReadonlySet<string> {
  const refreshes = exchanges.filter(isRefresh)
  const showing = exchanges.filter((one) => isRefresh(one) || one.operation === 'view')
  const overtaken = showing.filter((slow) =>
    refreshes.some((fast) => {
      const isSame = fast.session === slow.session && fast.actor !== slow.actor
      const isWithin = fast.begun > slow.begun && fast.begun < (slow.ended ?? Number.MAX_VALUE)
      return isSame && isWithin && (fast.shown?.gen ?? 0) > (slow.shown?.gen ?? 0)
    }),
  )
  return new Set(overtaken.map(({ session }) => session))
}

/** What an owner who is refused has to blame, by one other exchange. */
function isCause(refused: Exchange, other: Exchange, graceLeft: number): boolean {
  if (other.begun > (refused.ended ?? 0)) return false
  if (ends(other, refused.session, refused.owner)) return true
  if (other.session !== refused.session) return false
  if (other.struck || other.foreign) return true
  const isMeanwhile = isRefresh(other) && (other.ended ?? refused.begun + 1) > refused.begun
  if (isMeanwhile && lengthOf(refused) >= graceLeft) return true
  return other !== refused && lengthOf(other, refused.endedAt) >= graceLeft
}

/**
 * I2: an owner who is refused with 401 or 403 has an ending, a fault, a second holder, the time, or another tab to blame:
 * one that went ahead meanwhile, or whose answer came later than the grace. A lost reply is no cause, but for a change of
 * password after it.
 */
export const inMeansIn: Predicate = ({ exchanges, profile }) => {
  const skew = Math.max(...profile.skews) - Math.min(...profile.skews)
  const overtaken = overtakenSessions(exchanges)
  // After a change of password, no reply that was lost before is given again.
  const inSession = (wanted: (one: Exchange) => boolean) =>
    new Set(exchanges.filter(wanted).map(({ session }) => session))
  const changed = inSession(({ operation }) => operation === 'change')
  const excused = [...inSession(({ lost }) => lost)].filter((session) => changed.has(session))

  function isWithoutCause(one: Exchange): boolean {
    const { status, shown, endedAt, session } = one
    if (status !== 401 && status !== 403) return false
    if (overtaken.has(session) || excused.includes(session)) return false
    if (shown !== null && endedAt + skew >= shown.exp) return false
    return !exchanges.some((other) => isCause(one, other, graceMs - skew))
  }

  return judged(
    exchanges
      .filter((one) => !one.foreign && isUse(one) && one.session !== '' && one.ended !== null)
      .map((one) => [one, isWithoutCause(one)]),
  )
}
