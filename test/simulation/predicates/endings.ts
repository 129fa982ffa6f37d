import { type Exchange, isSignIn, type Operation, sessionIn } from '../history.js'

const endsAll: ReadonlySet<Operation> = new Set<Operation>([
  ...(['logoutEverywhere', 'change', 'reset', 'disable', 'endAll'] as const),
])

/** Whether the act, where it took effect, ends this session of its owner. The session that changes a password is kept. */
export function ends(act: Exchange, session: string, owner: string): boolean {
  if (act.operation === 'logout' || act.operation === 'tabLogout') return act.session === session
  if (act.owner !== owner || !endsAll.has(act.operation)) return false
  return !(act.operation === 'change' && act.session === session)
}

/** When this was asked for first: who signs out everywhere and hears nothing asks for the same act again. */
function askedFirst(act: Exchange, exchanges: readonly Exchange[]): number {
  if (act.operation !== 'logoutEverywhere') return act.begun
  const same = exchanges.filter((one) => {
    return one.operation === act.operation && one.session === act.session
  })
  return Math.min(...same.map(({ begun }) => begun))
}

/** The sessions that were begun before the act was asked for, as far as anyone was told. */
export function sessionsBefore(act: Exchange, exchanges: readonly Exchange[]): readonly string[] {
  const asked = askedFirst(act, exchanges)
  return exchanges
    .filter((one) => {
      return isSignIn(one) && one.owner === act.owner && one.ended !== null && one.ended < asked
    })
    .map(sessionIn)
    .filter((session) => session !== '')
}
