import { type Exchange, sessionIn } from '../history.js'

const endsAll = new Set(['logoutEverywhere', 'change', 'reset', 'disable', 'endAll'])

/** Whether the act, where it took effect, ends this session of its owner. The session that changes a password is kept. */
export function ends(act: Exchange, session: string, owner: string): boolean {
  if (act.operation === 'logout') return act.session === session
  if (act.owner !== owner || !endsAll.has(act.operation)) return false
  return !(act.operation === 'change' && act.session === session)
}

/** The sessions that were begun before the act was asked for, as far as anyone was told. */
export function sessionsBefore(act: Exchange, exchanges: readonly Exchange[]): readonly string[] {
  return exchanges
    .filter(({ operation, owner, ended }) => {
      return operation === 'login' && owner === act.owner && ended !== null && ended < act.begun
    })
    .map(sessionIn)
    .filter((session) => session !== '')
}
