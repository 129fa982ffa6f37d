import { type Exchange, type History, type Operation, succeeded, type Thing } from './history.js'
import { ends } from './predicates/endings.js'

/** What each stolen thing is ended by, in the threat model's words: these are the rows that are looked for. */
export const endings = {
  accessToken: ['logout', 'logoutEverywhere', 'change', 'reset', 'disable', 'endAll'],
  refreshToken: ['logout', 'logoutEverywhere', 'change', 'reset', 'disable', 'endAll'],
  password: ['change', 'reset'],
  link: ['reset', 'change'],
  code: ['second'],
  machineSecret: ['revokeSecret'],
} as const satisfies Readonly<Record<Thing, readonly Operation[]>>

const isBySession = (thing: Thing): boolean => thing === 'accessToken' || thing === 'refreshToken'

/** Whether the act ended what this exchange shows. */
function concerns(act: Exchange, shown: Exchange): boolean {
  if (shown.stolen === null || !succeeded(act) || act.foreign) return false
  if (isBySession(shown.stolen)) return ends(act, shown.session, shown.owner)
  if (shown.stolen === 'machineSecret') return act.spends === shown.spends
  if (act.owner !== shown.owner) return false
  return shown.stolen === 'code' ? act.spends === shown.spends : act.sets !== shown.spends
}

const keyOf = ({ stolen, session, spends, owner }: Exchange): string =>
  `${stolen} ${owner} ${stolen !== null && isBySession(stolen) ? session : spends}`

const isOnce = (thing: Thing): boolean => thing === 'link' || thing === 'code'

const add = (counts: Map<string, number>, key: string): void =>
  void counts.set(key, (counts.get(key) ?? 0) + 1)

/** The acts that ended what this exchange shows since it worked last. */
function endedBy(one: Exchange, since: number, exchanges: readonly Exchange[]): readonly string[] {
  const { stolen, begun } = one
  if (stolen === null) return []
  return endings[stolen].filter((operation) =>
    exchanges.some((act) => {
      const isWithin = act.ended !== null && act.ended < begun && act.ended > since
      return act.operation === operation && isWithin && concerns(act, one)
    }),
  )
}

/**
 * How often a stolen thing was refused after each act that ends it. Where a thing works more than once it was seen working
 * before that.
 */
export function stolenTable({ exchanges }: History): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  const worked = new Map<string, number>()
  for (const one of exchanges) {
    const { stolen, ended, status } = one
    if (stolen === null || ended === null) continue
    const before = worked.get(keyOf(one))
    if (succeeded(one)) worked.set(keyOf(one), before ?? ended)
    if (status < 400 || status >= 500 || (before === undefined && !isOnce(stolen))) continue
    for (const operation of endedBy(one, before ?? -1, exchanges)) {
      add(counts, `${stolen} after ${operation}`)
    }
  }
  return counts
}
