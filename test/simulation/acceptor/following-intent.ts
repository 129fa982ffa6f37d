import type { Exchange } from '../history.js'
import { distinctIntents, type IntentSteps, type PossibleIntent } from './intent-steps.js'
import type { IntentStory } from './intent-story.js'

/** Which of the two requests of the model one is. */
export type IntentSeat = 0 | 1
const intentSeats: readonly IntentSeat[] = [0, 1]

/** A link or a login ticket that is being followed through what happened to it. */
export interface FollowingIntent {
  readonly steps: IntentSteps
  readonly story: IntentStory
  /** What the model may be in by now. */
  states: readonly PossibleIntent[]
  /** A request keeps its seat until it is over and nothing of it is to come. */
  readonly seated: [Exchange | null, Exchange | null]
  /** Where each request sits or sat. */
  readonly seats: Map<string, IntentSeat>
  readonly over: Set<string>
  /** Requests that their client waits for no longer, and that go on. */
  readonly left: Set<string>
  /** The requests whose write on the account failed, or was not answered. */
  readonly failing: Set<string>
  /** Passwords that had a seat, which is another's by now. */
  readonly forgotten: Set<string>
  /** Writes that are still to come, by the request, and those of the account among them. */
  readonly toCome: Map<string, number>
  readonly accountToCome: Map<string, number>
  /** Sessions that a link has to end. */
  readonly living: Set<string>
  /** The session that a request opened, and of which epoch. */
  readonly opened: Map<string, { readonly session: string; readonly epoch: number }>
  /** The effect of the link is written. */
  isWritten: boolean
  now: number
}

export const seatedAt = (
  { seated }: Pick<FollowingIntent, 'seated'>,
  request: string,
): IntentSeat | undefined => intentSeats.find((seat) => seated[seat]?.request === request)

/** How long the library waits for a call of the store. */
const longestCallMs = 5000

/** Whether a call of the request may have taken too long by now. */
export const isTimedOut = ({ now }: FollowingIntent, exchange: Exchange | null): boolean =>
  exchange !== null && now >= exchange.begunAt + longestCallMs

function isActive({ seated, over, toCome }: FollowingIntent, seat: IntentSeat): boolean {
  const exchange = seated[seat]
  if (exchange === null) return false
  return !over.has(exchange.request) || (toCome.get(exchange.request) ?? 0) > 0
}

/** Whether nothing is to come of whoever sat there. */
function isFree(following: FollowingIntent, seat: IntentSeat): boolean {
  const { seats, toCome } = following
  const isToCome = [...seats].some(([request, at]) => at === seat && (toCome.get(request) ?? 0) > 0)
  return !isToCome && !isActive(following, seat)
}

/** Whether the password of the account may be that of the request that sat there last. */
function isNamed({ steps, states }: FollowingIntent, seat: IntentSeat): boolean {
  return states.some((state) => steps.value(state, 'password') === seat + 1)
}

/**
 * The seat for a request; undefined where there is none. The same password again has the seat of before, where the write of
 * the new password may still be under way.
 */
export function freeSeat(following: FollowingIntent, { sets }: Exchange): IntentSeat | undefined {
  const { seated, over, toCome, accountToCome, forgotten } = following
  if (forgotten.has(sets)) return undefined
  const own = intentSeats.find((seat) => sets !== '' && seated[seat]?.sets === sets)
  const before = own === undefined ? null : seated[own]
  if (before === null) {
    const free = intentSeats.filter((seat) => isFree(following, seat))
    // A password that may be shown again keeps its seat as long as possible.
    return free.find((seat) => !isNamed(following, seat)) ?? free[0]
  }
  const { request } = before
  const isSpending = (toCome.get(request) ?? 0) > (accountToCome.get(request) ?? 0)
  return over.has(request) && !isSpending ? own : undefined
}

/** The state with what the request on this seat did last. */
export function notedAs(state: PossibleIntent, seat: IntentSeat, name: string): PossibleIntent {
  const last: [string, string] = [...state.last]
  last[seat] = name
  return { ...state, last }
}

/** Takes an action of one of the two processes of a kind, as the model names them. */
export const takenBy =
  (process: 'link' | 'login') =>
  (
    { steps }: FollowingIntent,
    state: PossibleIntent,
    seat: IntentSeat,
    name: string,
  ): readonly PossibleIntent[] =>
    steps.take(state, `${process}${seat} ${name}`).map((next) => notedAs(next, seat, name))

/** A request looks at the account. What it takes for the switch and for the time, it may have seen at any time so far. */
export function judgedBy(
  { steps, story, seated }: FollowingIntent,
  state: PossibleIntent,
  seat: IntentSeat,
): readonly PossibleIntent[] {
  const exchange = seated[seat]
  if (exchange === null) return []
  const switched = story.offViews(exchange).flatMap((off) => {
    if (steps.value(state, 'off') === off) return [state]
    return steps.take(state, `the method is switched ${off === 1 ? 'off' : 'on'}`)
  })
  return switched.flatMap((one) =>
    story.expiredViews(exchange).flatMap((expired) => {
      if (steps.value(one, 'expired') === expired) return [one]
      return expired === 1 ? steps.take(one, 'the hour of the link passes') : []
    }),
  )
}

const mostStates = 20_000

/** With all that may have happened meanwhile. */
export function settleIntent(
  following: FollowingIntent,
  silent: (state: PossibleIntent, seat: IntentSeat) => readonly PossibleIntent[],
): void {
  const active = intentSeats.filter((seat) => isActive(following, seat))
  let all = distinctIntents(following.states)
  let newest = active.length === 0 ? [] : all
  while (newest.length > 0) {
    const before = all.length
    const after = newest.flatMap((state) => active.flatMap((seat) => silent(state, seat)))
    all = distinctIntents([...all, ...after])
    if (all.length > mostStates) throw new Error('too many states to follow')
    newest = all.slice(before)
  }
  following.states = all
}
