import { linkPlaces } from '../../model/intents-link.js'
import { verdictNames } from '../../model/intents-verdicts.js'
import type { Fault, IntentWrite } from '../history.js'
import {
  type FollowingIntent,
  type IntentSeat,
  isTimedOut,
  judgedBy,
  notedAs,
  seatedAt,
  takenBy,
} from './following-intent.js'
import type { IntentEvents, IntentOver } from './intent-events.js'
import type { PossibleIntent } from './intent-steps.js'

const answered = 'takes the link and is answered'
const missed = 'writes and misses'

const looks = [
  'opens it',
  'goes on where a request with this password was cut off',
  'shows another password than was written',
  'is refused',
]
const looksAgain = [
  'misses, and finds its effect written',
  'misses, and finds another password written',
  'misses, and finds the account changed',
]
const refusing = [looks[2], looks[3], looksAgain[1], looksAgain[2]]
const lost = 'writes, and the answer is lost'
const takenAndLost = 'takes the link, and the answer is lost'
const ofFault = ['reads its own write', 'cannot tell whether it wrote']

const nameOf = (seat: IntentSeat, name: string): string => `link${seat} ${name}`

const takes = takenBy('link')

/** What a request is told that looked at the link now: the model knows that it is refused, and the law knows why. */
function refusalIn({ steps }: FollowingIntent, state: PossibleIntent): string {
  if (steps.value(state, 'linkThere') === 0) return 'invalid_token'
  const verdict = verdictNames[steps.linkVerdict(state.values)]
  if (verdict === 'judged_expired') return 'token_expired'
  return verdict === 'judged_switchedOff' ? 'password_login_disabled' : 'invalid_token'
}

function looking(
  following: FollowingIntent,
  state: PossibleIntent,
  seat: IntentSeat,
  names: readonly string[],
): readonly PossibleIntent[] {
  return judgedBy(following, state, seat).flatMap((seen) =>
    names.flatMap((name) => {
      const taken = takes(following, seen, seat, name)
      if (!refusing.includes(name)) return taken
      return taken.map((next) => notedAs(next, seat, refusalIn(following, seen)))
    }),
  )
}

/** It goes on without waiting for its write. */
function stopsWaiting(
  { steps }: FollowingIntent,
  state: PossibleIntent,
  seat: IntentSeat,
  request: string,
): readonly PossibleIntent[] {
  const name = 'stops waiting for its write'
  return steps.take(state, nameOf(seat, name)).map((next) => {
    const late = { ...next.late, [request]: steps.value(next, 'lateProof') }
    return notedAs({ ...steps.set(next, { writer: 0, lateProof: 0 }), late }, seat, name)
  })
}

/** A call that was held for too long is given up, which no fault tells of. */
function waitedFor(
  following: FollowingIntent,
  state: PossibleIntent,
  seat: IntentSeat,
): readonly PossibleIntent[] {
  const request = following.seated[seat]?.request ?? ''
  const isToWrite = (following.accountToCome.get(request) ?? 0) > 0
  return [
    ...['fails to write', ...ofFault].flatMap((name) => takes(following, state, seat, name)),
    ...(isToWrite ? stopsWaiting(following, state, seat, request) : []),
  ]
}

function silent(
  following: FollowingIntent,
  state: PossibleIntent,
  seat: IntentSeat,
): readonly PossibleIntent[] {
  const exchange = following.seated[seat]
  if (exchange === null) return []
  if (state.last[seat] === '') return looking(following, state, seat, looks)
  const again = state.last[seat] === missed ? looking(following, state, seat, looksAgain) : []
  const take = (name: string) => takes(following, state, seat, name)
  const failing = following.failing.has(exchange.request) ? ofFault.flatMap(take) : []
  const waited = isTimedOut(following, exchange) ? waitedFor(following, state, seat) : []
  const ending = following.living.size === 0 ? take('ends all sessions') : []
  return [...again, ...failing, ...waited, ...ending]
}

/** What the seat was about is forgotten: the password of the request before is another's from now on. */
function anew({ steps }: FollowingIntent, state: PossibleIntent, seat: IntentSeat): PossibleIntent {
  const own = seat + 1
  const others = ['password', 'linkSet'].filter((name) => steps.value(state, name) === own)
  const given = { [`linkAt${seat}`]: 0, [`proof${seat}`]: 0, [`done${seat}`]: 0 }
  return steps.set(state, { ...given, ...Object.fromEntries(others.map((name) => [name, 3])) })
}

function isPlain({ steps }: FollowingIntent, state: PossibleIntent, seat: IntentSeat): boolean {
  return steps.value(state, `linkAt${seat}`) === linkPlaces.indexOf('noRequest')
}

function refused(following: FollowingIntent, seat: IntentSeat, code: string): void {
  // Limits are no part of the model: that of an address, and that of guesses with a link.
  const last = code === 'rate_limited' ? '' : code
  following.states = following.states.filter(
    (state) => state.last[seat] === last && isPlain(following, state, seat),
  )
}

/** The write of the new password, by a request with this very link. */
function writes(
  following: FollowingIntent,
  seat: IntentSeat,
  { request, account }: Extract<IntentWrite, { readonly kind: 'account' }>,
): readonly PossibleIntent[] {
  const { steps } = following
  const hit = account !== null
  function landsLate(state: PossibleIntent): readonly PossibleIntent[] {
    const { [request]: lateProof, ...late } = state.late
    if (lateProof === undefined) return []
    const own = { ...steps.set(state, { writer: seat + 1, lateProof }), late }
    // The code asks for the other epochs as well.
    if (!hit && steps.holdsGuard(state.values) === 1) return [{ ...state, late }]
    return steps.take(
      own,
      hit ? 'a late write of the link takes effect' : 'a late write of the link misses',
    )
  }
  function inTime(state: PossibleIntent): readonly PossibleIntent[] {
    if (following.seated[seat]?.request !== request) return []
    if (steps.value(state, `linkAt${seat}`) !== linkPlaces.indexOf('toWrite')) return []
    if (!hit) return [notedAs(state, seat, missed)]
    return ['writes', lost].flatMap((name) => takes(following, state, seat, name))
  }
  return following.states.flatMap((state) => [
    ...landsLate(state),
    ...(request in state.late ? [] : inTime(state)),
  ])
}

/**
 * A request that is over waits for none of its writes on the account. One that its client left may be about to write: it
 * goes on, and the seat is another's.
 */
function keepLate(following: FollowingIntent, { kind, exchange: { request } }: IntentOver) {
  const { accountToCome, states } = following
  if ((accountToCome.get(request) ?? 0) === 0) return states
  const seat = seatedAt(following, request)
  const isLeft = kind === 'left' && seat !== undefined
  const stopped = isLeft
    ? states.flatMap((state) => stopsWaiting(following, state, seat, request))
    : []
  return [...states, ...stopped].filter(({ late }) => request in late)
}

/** A call of a request with the link fails. Where its answer is lost, it was carried out. */
function faulty(
  following: FollowingIntent,
  seat: IntentSeat,
  { call, how, request }: Fault,
): readonly PossibleIntent[] {
  const { states, seated } = following
  const isLost = how === 'lost'
  // It is told too late: nothing waits for that call any more.
  const before = isTimedOut(following, seated[seat]) ? states : []
  if (call === 'client_intents.take' && isLost) {
    return [...before, ...states.filter(({ last }) => last[seat] === takenAndLost)]
  }
  if (call !== 'client_users.update') return states
  following.failing.add(request)
  const after = states.flatMap((state) => {
    if (how === 'late') return stopsWaiting(following, state, seat, request)
    if (isLost && state.last[seat] === lost) return [state]
    const isWritten = isLost && state.last[seat] !== missed
    return isWritten ? [] : takes(following, state, seat, 'fails to write')
  })
  return [...before, ...after]
}

export const linkEvents: IntentEvents = {
  hasLateWrites: true,
  silent,
  anew,
  isPlain,
  faulty,
  dies: (following, state, seat) => takes(following, state, seat, 'dies with its replica'),
  keepLate,

  answered(following, seat, exchange) {
    if (exchange.status >= 400) return refused(following, seat, exchange.code)
    following.states = following.states.filter(({ last }) => last[seat] === answered)
  },

  accountWritten(following, write) {
    if (write.intent !== following.story.issued.intent) return null
    const seat = following.seats.get(write.request)
    if (seat === undefined) return []
    return writes(following, seat, write)
  },

  taken(following, { request }) {
    const seat = seatedAt(following, request)
    if (seat === undefined) return []
    return following.states.flatMap((state) =>
      [answered, takenAndLost].flatMap((name) => takes(following, state, seat, name)),
    )
  },
}
