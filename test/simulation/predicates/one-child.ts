import { type Exchange, isRefresh, succeeded } from '../history.js'
import { graceMs } from './grace.js'
import { judged, type Predicate } from './judged.js'

/**
 * I4: a generation of refresh tokens has one token; what is shown again is answered while nothing newer was rotated, and
 * after the grace only with the recognition id.
 */
export const oneChild: Predicate = ({ exchanges, rotations, profile }) => {
  const refreshes = exchanges.filter((one) => isRefresh(one) && succeeded(one))
  const grace = graceMs + Math.max(...profile.skews) - Math.min(...profile.skews)
  const ofSession = (session: string) => refreshes.filter((one) => one.session === session)

  const isRotation = ({ session, issued }: Exchange) =>
    rotations.some((one) => one.session === session && one.rotatedTo === issued?.jti)

  function isWrong(again: Exchange): boolean {
    const { shown, issued, begun, begunAt, known } = again
    if (shown === null || issued === null || issued.gen <= shown.gen) return true
    return ofSession(again.session).some((other) => {
      if (other.shown === null || other.ended === null || other.ended >= begun) return false
      if (other.shown.gen > shown.gen && isRotation(other)) return true
      if (known || other.shown.gen !== shown.gen) return false
      return begunAt > other.endedAt + grace && !isGraceOpened(again)
    })
  }

  /** The owner, whose reply was lost, may show the token after the grace: another grace runs from then on. */
  const isGraceOpened = ({ session, shown, begunAt, ended }: Exchange) =>
    exchanges.some((one) => {
      if (!isRefresh(one) || !one.known || one.session !== session) return false
      if (one.status === 401) return false
      if (one.shown?.gen !== shown?.gen || (ended !== null && one.begun > ended)) return false
      return one.ended === null || begunAt <= one.endedAt + grace
    })

  const { premises, violations } = judged(refreshes.map((one) => [one, isWrong(one)]))
  const twice = rotations.filter((one) =>
    rotations.some((other) => {
      const isSame = other.session === one.session && other.generation === one.generation
      return isSame && other.rotatedTo !== one.rotatedTo
    }),
  )
  const told = twice.map(({ session, generation }) => `${session} has two tokens ${generation}`)
  return { premises, violations: [...violations, ...told] }
}
