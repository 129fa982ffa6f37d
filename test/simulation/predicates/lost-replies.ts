import { type Exchange, type History, isRefresh } from '../history.js'
import { graceMs } from './grace.js'
import { overtakenSessions } from './in-means-in.js'
import { judged, type Predicate } from './judged.js'

const isShowing = (one: Exchange): boolean => isRefresh(one) || one.operation === 'view'

/** Whether the owner may not know what a refresh of this session brought. */
const isUnheard = (one: Exchange): boolean => isRefresh(one) && (one.lost || one.struck)

/** What owners show of a session after one of its replies was lost, and an answer came. */
function afterLosses({ exchanges }: History): readonly Exchange[] {
  const losses = exchanges.filter(isUnheard)
  return exchanges.filter(
    (one) =>
      !one.foreign &&
      isShowing(one) &&
      one.ended !== null &&
      losses.some(({ session, begun }) => session === one.session && begun < one.begun),
  )
}

/** Why an owner is told of replay, by the names that the rule itself gives; null if there is no reason. */
function exceptionOf(refused: Exchange, { exchanges, profile }: History): string | null {
  const skew = Math.max(...profile.skews) - Math.min(...profile.skews)
  const others = exchanges.filter(
    ({ session, begun }) => session === refused.session && begun <= (refused.ended ?? 0),
  )
  const lengthOf = (one: Exchange) =>
    (one.ended === null ? refused.endedAt : one.endedAt) - one.begunAt
  if (others.some(({ foreign }) => foreign)) return 'a second holder'
  if (others.some(({ operation }) => operation === 'change')) return 'a change of password'
  if (overtakenSessions(exchanges).has(refused.session)) return 'replies out of order'
  if (others.some((one) => lengthOf(one) >= graceMs - skew)) return 'a request older than the grace'
  if (others.some((one) => isShowing(one) && !one.known)) return 'no recognition id'
  return null
}

const isRefused = ({ code }: Exchange): boolean => code === 'refresh_token_reused'

/** I22: a lost reply signs no owner out who shows the recognition id of the login. */
export const lostReplies: Predicate = (history) =>
  judged(
    afterLosses(history).map((one) => [one, isRefused(one) && exceptionOf(one, history) === null]),
  )

/** How often each exception signed an owner out after a lost reply. */
export function signedOutBy(history: History): readonly string[] {
  return afterLosses(history).flatMap((one) => {
    const reason = isRefused(one) ? exceptionOf(one, history) : null
    return reason === null ? [] : [reason]
  })
}
