import { ticketPlaces } from '../../model/intents-ticket.js'
import type { IntentWrite } from '../history.js'
import {
  type FollowingIntent,
  type IntentSeat,
  isTimedOut,
  judgedBy,
  seatedAt,
  takenBy,
} from './following-intent.js'
import type { IntentEvents } from './intent-events.js'
import type { PossibleIntent } from './intent-steps.js'

const opens = 'opens a session'
const isVoid = 'finds the ticket void'
const isTaken = 'finds the ticket taken'
const usedUp = 'finds all of its codes used up'
const tooMany = 'shows one wrong code too many, which takes the ticket'

/** The codes that a login may show before it is void: `mfaMaxAttempts`. */
const mostCodes = 5

/** What a request that was refused has done last, by the code of the refusal. */
const refusedBy: Readonly<Record<string, readonly string[]>> = {
  mfa_ticket_invalid: [isVoid, isTaken, tooMany, usedUp],
  invalid_credentials: ['is stopped by the fence'],
  password_login_disabled: ['finds the method switched off'],
  // Of a code that is wrong the model knows nothing.
  invalid_mfa_code: [''],
  rate_limited: [''],
}

const takes = takenBy('login')

function silent(
  following: FollowingIntent,
  state: PossibleIntent,
  seat: IntentSeat,
): readonly PossibleIntent[] {
  const names: Readonly<Record<string, readonly string[]>> = {
    '': [
      ...['shows the ticket and a code', isVoid],
      ...(following.story.shownBefore(following.seated[seat]) >= mostCodes ? [usedUp] : []),
    ],
    'takes the ticket': ['finds the method switched off'],
  }
  const own = names[state.last[seat]] ?? []
  if (own.length === 0) return []
  return judgedBy(following, state, seat).flatMap((seen) =>
    own.flatMap((name) => takes(following, seen, seat, name)),
  )
}

const isPlain = ({ steps }: FollowingIntent, state: PossibleIntent, seat: IntentSeat): boolean =>
  steps.value(state, `ticketAt${seat}`) === ticketPlaces.indexOf('noCode')

/** The last write of a login asks about the account. */
function fenced(
  following: FollowingIntent,
  { request, account }: Extract<IntentWrite, { readonly kind: 'account' }>,
  seat: IntentSeat,
): readonly PossibleIntent[] {
  const opened = following.opened.get(request)
  const isOpened = opened !== undefined && opened.epoch === account?.session
  if (account !== null && !isOpened) return []
  const name = account === null ? 'is stopped by the fence' : opens
  return following.states.flatMap((state) => takes(following, state, seat, name))
}

const takenAndLost = 'takes the ticket, and the answer is lost'

export const ticketEvents: IntentEvents = {
  hasLateWrites: false,
  silent,
  anew: ({ steps }, state, seat) => steps.set(state, { [`ticketAt${seat}`]: 0 }),
  isPlain,
  faulty(following, seat, { call, how }) {
    const { states, seated } = following
    const isLost = call === 'client_challenges.take' && how === 'lost'
    if (!isLost || isTimedOut(following, seated[seat])) return states
    const isOpen = (state: PossibleIntent) => state.last[seat] !== 'takes the ticket'
    return states.filter(isOpen)
  },

  dies: (following, state, seat) => takes(following, state, seat, 'dies with its replica'),
  keepLate: ({ states }) => states,

  answered(following, seat, { status, code, request, issued }) {
    const isOwn = following.opened.get(request)?.session === issued?.sid
    following.states = following.states.filter((state) => {
      const last = state.last[seat]
      if (status < 400) return last === opens && isOwn
      return refusedBy[code]?.includes(last) === true && isPlain(following, state, seat)
    })
  },

  accountWritten(following, write) {
    const seat = seatedAt(following, write.request)
    return write.write === 'fence' && seat !== undefined ? fenced(following, write, seat) : null
  },

  taken(following, { request, hit }) {
    const seat = seatedAt(following, request)
    if (seat === undefined) return []
    const names = hit ? ['takes the ticket', takenAndLost] : [isTaken]
    return following.states.flatMap((state) => {
      // After the last code that may be wrong it is taken too, by whichever request comes first.
      const isWrong = ['', isVoid, usedUp].includes(state.last[seat])
      if (isWrong) return hit ? takes(following, state, seat, tooMany) : [state]
      return names.flatMap((name) => takes(following, state, seat, name))
    })
  },
}
