import { places } from '../../model/refresh-holder.js'
import type { Exchange } from '../history.js'
import { distinct, type Possible, type Steps } from './possible.js'
import type { SessionStory } from './session-story.js'

/** Which of the two holders of the model somebody is. */
export type Seat = 0 | 1

/** A session that is being followed through what happened to it. */
export interface Following {
  readonly steps: Steps
  readonly story: SessionStory
  /** What the model may be in by now. */
  states: readonly Possible[]
  /** Who shows refresh tokens, and the request of each that is under way. */
  readonly holders: string[]
  readonly underway: [Exchange | null, Exchange | null]
  /** The changes of the password that this session asked for. */
  readonly changes: Set<string>
  /** Accesses under way, and whether they could have been granted at one point since they began. */
  readonly accesses: Map<Exchange, boolean>
  /** When the newest token was minted and when the session is idle, as the row says. */
  rotatedAt: number
  expiresAt: number
  now: number
  /** Writes that are still to come, by the request. */
  readonly writesToCome: Map<string, number>
  /** The requests whose write of the row is still to come. */
  readonly rotatesToCome: Set<string>
}

const graceMs = 10_000

/** What a request may do meanwhile that shows in no write of its own. */
const asks = [
  'asks, is not denied, and signs',
  'asks and finds an ending begun',
  'asks and finds the row revoked',
]
const looks = [
  'reads that it came second, in the grace',
  'reads a replay',
  'reads that the row is revoked',
  'reads that the session is idle',
  'reads that the session is outdated',
  'reads that the cap is reached',
]
const ofRefresh = [
  ...looks,
  'reads its own rotation',
  'cannot tell misuse from a lost answer',
  'cannot tell whether it wrote',
  'fails to write',
]
/** `GET session` judges the row where a refresh would write. */
const ofView = [...looks, 'writes and misses', 'views the session']

const ofChange = [
  'a password change reads the row',
  'the change finds that the row moved on',
  'the change finds the row revoked',
  'the change finds an ending begun',
]

function hiddenOf(following: Following, { last }: Possible, seat: Seat): readonly string[] {
  const exchange = following.underway[seat]
  if (exchange === null) return []
  // A request asks once; a holder that has to ask again sends another one.
  if (last[seat] === '') return asks
  if (exchange.operation === 'view') return ofView
  const isToRotate = following.rotatesToCome.has(exchange.request)
  return isToRotate ? [...ofRefresh, 'stops waiting for its write'] : ofRefresh
}

const nameOf = (seat: Seat, name: string): string => `holder${seat} ${name}`

/** The state with what the holder did last. */
export function noted(state: Possible, seat: Seat, name: string): Possible {
  const last: [string, string] = [...state.last]
  last[seat] = name
  return { ...state, last }
}

export function takeOf(
  { steps, underway }: Following,
  state: Possible,
  seat: Seat,
  name: string,
): readonly Possible[] {
  const request = underway[seat]?.request
  const own = nameOf(seat, name)
  const isLeft = name === 'stops waiting for its write' && request !== undefined
  const taken = isLeft ? steps.stopWaiting(state, request, own) : steps.take(state, own)
  return taken.map((next) => noted(next, seat, name))
}

/** The account may be read after the denylist: then a request has an epoch that was raised in between. */
function readsLater({ steps }: Following, state: Possible, seat: Seat): readonly Possible[] {
  const isReading = steps.value(state, `place${seat}`) === places.indexOf('read')
  const isRaised = steps.value(state, 'epoch') > 0 && steps.value(state, 'kept') === 0
  return isReading && isRaised ? [steps.set(state, { [`epochHolds${seat}`]: 0 })] : []
}

/** Half of the window passes first. */
const ofIdleTime = [
  ['halfway', 'half of the idle window passes'],
  ['idle', 'the idle deadline passes'],
] as const

function silentSteps(following: Following, state: Possible): readonly Possible[] {
  const { steps, now, rotatedAt, expiresAt, changes } = following
  const byHolders = ([0, 1] as const).flatMap((seat) => [
    ...readsLater(following, state, seat),
    ...hiddenOf(following, state, seat).flatMap((name) => takeOf(following, state, seat, name)),
  ])
  const byChanges = [...changes].flatMap((request) =>
    ofChange.flatMap((name) => steps.takeChange(state, request, name)),
  )
  const byTime = [
    ...(now >= rotatedAt + graceMs ? steps.take(state, 'the grace passes') : []),
    ...(now >= expiresAt ? ofIdleTime.flatMap(([, name]) => steps.take(state, name)) : []),
  ]
  return [...byHolders, ...byChanges, ...byTime]
}

const mostStates = 20_000

/** With all that may have happened meanwhile. False where that is more than can be followed. */
export function settleSilently(following: Following): boolean {
  let all = distinct(following.states)
  let newest = all
  while (newest.length > 0) {
    const before = all.length
    all = distinct([...all, ...newest.flatMap((state) => silentSteps(following, state))])
    if (all.length > mostStates) return false
    newest = all.slice(before)
  }
  following.states = all
  return true
}

/** What has certainly passed: no request is under way that may go by the time before. */
export function passTime(following: Following): void {
  const { steps, now, rotatedAt, expiresAt, underway } = following
  if (underway.some((exchange) => exchange !== null)) return
  const passes = (variable: string, name: string) => (state: Possible) =>
    steps.value(state, variable) > 0 ? [state] : steps.take(state, name)
  let { states } = following
  if (now >= rotatedAt + graceMs) states = states.flatMap(passes('elapsed', 'the grace passes'))
  for (const [variable, name] of now >= expiresAt ? ofIdleTime : [])
    states = states.flatMap(passes(variable, name))
  following.states = distinct(states)
}
