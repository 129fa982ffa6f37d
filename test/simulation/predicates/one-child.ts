import { type Exchange, isRefresh, succeeded } from '../history.js'
import { graceMs } from './grace.js'
import { judged, type Predicate } from './judged.js'

/**
 * I4: a generation of refresh tokens has one child; what is shown again is answered within the grace alone, and only while
 * the child is the newest.
 */
export const oneChild: Predicate = ({ exchanges, rotations, profile }) => {
  const refreshes = exchanges.filter((one) => isRefresh(one) && succeeded(one))
  const grace = graceMs + Math.max(...profile.skews) - Math.min(...profile.skews)
  const ofSession = (session: string) => refreshes.filter((one) => one.session === session)

  function isWrong(again: Exchange): boolean {
    const { shown, issued, begun, begunAt } = again
    if (shown === null || issued === null || issued.gen !== shown.gen + 1) return true
    return ofSession(again.session).some((other) => {
      if (other.shown === null || other.ended === null || other.ended >= begun) return false
      if (other.shown.gen > shown.gen) return true
      return other.shown.gen === shown.gen && begunAt > other.endedAt + grace
    })
  }

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
