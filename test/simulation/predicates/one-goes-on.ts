import { type Exchange, isRefresh, succeeded } from '../history.js'
import { judged, type Predicate } from './judged.js'

/** Whether the token that this shows was there before that was asked for. */
function isOlder(
  { shown, spends }: Exchange,
  begun: number,
  exchanges: readonly Exchange[],
): boolean {
  return exchanges.some(
    (one) =>
      (one.spends === spends && one.begun < begun) ||
      (one.issued?.jti === shown?.jti && one.ended !== null && one.ended < begun),
  )
}

/**
 * I16: once a change of the password was answered, a refresh token from before it is good once more in the session that
 * the change kept, and its answer is given to nobody else: of two who hold the token, one goes on.
 */
export const oneGoesOn: Predicate = ({ exchanges }) => {
  const changes = exchanges.filter((one) => one.operation === 'change' && succeeded(one))
  const concerned = exchanges.filter(
    (one) =>
      isRefresh(one) &&
      changes.some(({ session, begun, ended }) => {
        const isLater = session === one.session && ended !== null && ended < one.begun
        return isLater && isOlder(one, begun, exchanges)
      }),
  )
  return judged(
    concerned.map((one) => {
      const others = concerned.filter((other) => other !== one && other.spends === one.spends)
      return [one, succeeded(one) && others.some(succeeded)]
    }),
  )
}
