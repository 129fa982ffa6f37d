import { isRefresh, isSignIn, isUse, sessionIn, succeeded } from '../history.js'
import { judged, type Predicate } from './judged.js'

/** I8: where an account has a second factor, a session is opened by it and by nothing else, after a reset too. */
export const secondFactor: Predicate = ({ exchanges, withFactor }) => {
  const concerned = exchanges.filter(({ owner, ended }) => withFactor.has(owner) && ended !== null)
  const proved = new Set(concerned.filter(({ operation }) => operation === 'second').map(sessionIn))
  return judged(
    concerned
      .filter((one) => isSignIn(one) || isUse(one))
      .map((one) => {
        if (!succeeded(one) || one.operation === 'second') return [one, false]
        if (isSignIn(one)) return [one, one.issued !== null]
        const isOwn = proved.has(one.session) || proved.has(sessionIn(one))
        return [one, (isUse(one) || isRefresh(one)) && !isOwn]
      }),
  )
}
