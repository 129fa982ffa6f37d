import { type Exchange, succeeded } from './history.js'

interface Judged {
  /** How often the predicate had something to say. */
  readonly premises: number
  readonly violations: readonly string[]
}

type Predicate = (history: readonly Exchange[]) => Judged

const uses = new Set(['me', 'refresh'])
const told = ({ actor, operation, session, begun }: Exchange): string =>
  `${actor} ${operation} of ${session} at ${begun}`

function judged(pairs: readonly (readonly [Exchange, boolean])[]): Judged {
  const violations = pairs.filter(([, isWrong]) => isWrong).map(([exchange]) => told(exchange))
  return { premises: pairs.length, violations }
}

const endsMore = new Set(['logoutEverywhere', 'change', 'disable'])

/** The sessions that the act ends. The session that changes a password is kept. */
function endedBy(act: Exchange, history: readonly Exchange[]): readonly string[] {
  if (act.operation === 'logout') return [act.session]
  if (!endsMore.has(act.operation)) return []
  return history
    .filter(({ operation, ended }) => operation === 'login' && ended !== null && ended < act.begun)
    .map(({ issued }) => issued)
    .filter((issued) => issued !== '' && !(act.operation === 'change' && issued === act.session))
}

/** When each session was certainly over, by acts that were answered with success. */
function endsOf(history: readonly Exchange[]): ReadonlyMap<string, number> {
  const ends = new Map<string, number>()
  for (const act of history) {
    const { ended } = act
    if (ended === null || !succeeded(act)) continue
    for (const session of endedBy(act, history)) {
      ends.set(session, Math.min(ended, ends.get(session) ?? ended))
    }
  }
  return ends
}

/** I1: no request that began after its session's ending was answered succeeds, on any replica. */
const outMeansOut: Predicate = (history) => {
  const ends = endsOf(history)
  return judged(
    history
      .filter(({ operation, session, begun, ended }) => {
        const end = ends.get(session)
        return uses.has(operation) && ended !== null && end !== undefined && begun > end
      })
      .map((exchange) => [exchange, succeeded(exchange)]),
  )
}

const endings = new Set(['logout', 'logoutEverywhere', 'change', 'disable'])

/** I2: who is refused with 401 or 403 has an ending, a fault or a second holder to blame. */
const inMeansIn: Predicate = (history) => {
  const everywhere = history.filter(({ operation }) => endings.has(operation))
  return judged(
    history
      .filter(({ actor, operation, ended }) => actor !== 'thief' && uses.has(operation) && ended)
      .map((exchange) => {
        const { session, ended, status } = exchange
        const before = ({ begun }: Exchange): boolean => begun <= (ended ?? 0)
        const isCaused =
          everywhere.some(
            (act) => before(act) && (act.operation !== 'logout' || act.session === session),
          ) ||
          history.some(
            (other) =>
              other.session === session &&
              before(other) &&
              (other.struck || other.actor === 'thief'),
          )
        return [exchange, (status === 401 || status === 403) && !isCaused]
      }),
  )
}

/** I5: once a replay was answered as one, no token of that session succeeds. */
const replayEnds: Predicate = (history) => {
  const found = new Map<string, number>()
  for (const { code, session, ended } of history) {
    if (code !== 'refresh_token_reused' || ended === null) continue
    found.set(session, Math.min(ended, found.get(session) ?? ended))
  }
  return judged(
    history
      .filter(({ operation, session, begun, ended }) => {
        const at = found.get(session)
        return uses.has(operation) && ended !== null && at !== undefined && begun > at
      })
      .map((exchange) => [exchange, succeeded(exchange)]),
  )
}

export const predicates = { outMeansOut, inMeansIn, replayEnds } as const
export type PredicateName = keyof typeof predicates
