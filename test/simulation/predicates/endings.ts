import { type Exchange, sessionIn } from '../history.js'

const endsAll = new Set(['logoutEverywhere', 'change', 'reset', 'disable', 'endAll'])

/** Whether the act, where it took effect, ends this session of its owner. The session that changes a password is kept. */
export function ends(act: Exchange, session: string, owner: string): boolean {
  if (act.operation === 'logout') return act.session === session
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
    .filter(({ operation, owner, ended }) => {
      return operation === 'login' && owner === act.owner && ended !== null && ended < asked
    })
    .map(sessionIn)
    .filter((session) => session !== '')
}
