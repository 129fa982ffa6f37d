import { compiledModel } from '../../model/followed/compiled-model.js'
import { intentsModel } from '../../model/intents.model.js'
import type { Exchange, Fault, IntentWrite } from '../history.js'
import type { Account, Epochs } from '../intent-changes.js'
import {
  type FollowingIntent,
  freeSeat,
  type IntentSeat,
  notedAs,
  seatedAt,
  settleIntent,
} from './following-intent.js'
import type { IntentEvents, IntentOver } from './intent-events.js'
import { type IntentSteps, intentSteps, type PossibleIntent, wayOf } from './intent-steps.js'
import type { IntentEvent, IntentStory } from './intent-story.js'
import { linkEvents } from './link-events.js'
import { ticketEvents } from './ticket-events.js'

export interface FollowedIntent {
  /** False where more requests show it at once than the model has. */
  readonly isWithin: boolean
  /** The actions that the model took; one of the ways where there are several. */
  readonly taken: readonly string[]
  /** What the model cannot do; null where it did all that happened. */
  readonly refused: string | null
}

/** Without the bounds of a search. */
const unbounded = { changes: 1_000_000, faults: 1_000_000 }

export const stepsOfIntents = (): IntentSteps => intentSteps(compiledModel(intentsModel))

/** An account as the model tells it: by how far each epoch went since the intent was made. */
function valuesOf(account: Account, since: Epochs): Readonly<Record<string, number>> {
  return {
    credential: account.credential - since.credential,
    session: account.session - since.session,
    device: account.device - since.device,
    disabled: account.enabled ? 0 : 1,
    proved: account.proved ? 1 : 0,
  }
}

const isOwnWrite = ({ issued: { kind, intent } }: IntentStory, one: IntentEvent): boolean =>
  one.kind === 'account' && (kind === 'link' ? one.intent === intent : one.write === 'fence')

function begun(steps: IntentSteps, story: IntentStory): FollowingIntent {
  const { issued, events } = story
  const moved = issued.kind === 'link' && issued.email !== issued.account.email ? 1 : 0
  const values = steps.model.initial
  const first: PossibleIntent = { values, last: ['', ''], late: {}, path: null }
  const known = { ...valuesOf(issued.account, issued.since), ...unbounded, moved }
  const [toCome, accountToCome] = [new Map<string, number>(), new Map<string, number>()]
  for (const one of events) {
    if (!('request' in one) || (one.kind !== 'take' && !isOwnWrite(story, one))) continue
    toCome.set(one.request, (toCome.get(one.request) ?? 0) + 1)
    if (one.kind === 'account') {
      accountToCome.set(one.request, (accountToCome.get(one.request) ?? 0) + 1)
    }
  }
  return {
    ...{ steps, story, toCome, accountToCome, states: [steps.set(first, known)] },
    ...{ seated: [null, null], seats: new Map(), living: new Set(story.living) },
    ...{ over: new Set(), left: new Set() },
    ...{
      failing: new Set(),
      forgotten: new Set(),
      opened: new Map(),
      isWritten: false,
      now: issued.at,
    },
  }
}

/** False where both seats are taken. */
function begins(following: FollowingIntent, exchange: Exchange, events: IntentEvents): boolean {
  const seat = freeSeat(following, exchange)
  if (seat === undefined) return false
  const before = following.seated[seat]?.sets ?? ''
  const isAgain = before !== '' && before === exchange.sets
  if (before !== '' && !isAgain) following.forgotten.add(before)
  following.states = following.states.map((state) =>
    notedAs(isAgain ? state : events.anew(following, state, seat), seat, ''),
  )
  following.seated[seat] = exchange
  following.seats.set(exchange.request, seat)
  return true
}

/** What a request did last that does nothing any more. */
const isOver = 'is over'

/** What is over and has nothing to write any more stops where it is. */
function leave(following: FollowingIntent, seat: IntentSeat, events: IntentEvents): void {
  const { seated, over, toCome, accountToCome } = following
  const request = seated[seat]?.request ?? ''
  const late = events.hasLateWrites ? (accountToCome.get(request) ?? 0) : 0
  if (!over.has(request) || (toCome.get(request) ?? 0) > late) return
  const isDone = (state: PossibleIntent) => events.isPlain(following, state, seat)
  const done = following.states.filter(isDone)
  const dead = following.states
    .filter((state) => !isDone(state))
    .flatMap((state) => events.dies(following, state, seat))
  // The likelier first, since the way of the first is told.
  const isKilled = seated[seat]?.ended === null
  following.states = (isKilled ? [...dead, ...done] : [...done, ...dead]).map((state) =>
    notedAs(state, seat, isOver),
  )
}

/** Whether a request takes the link or the ticket later on: then it goes on, and waits for its writes on the account. */
const goesOn = ({ toCome, accountToCome }: FollowingIntent, { request }: Exchange): boolean =>
  (toCome.get(request) ?? 0) > (accountToCome.get(request) ?? 0)

function ends(following: FollowingIntent, one: IntentOver, events: IntentEvents): void {
  const { kind, exchange } = one
  const seat = seatedAt(following, exchange.request)
  if (seat === undefined || following.over.has(exchange.request)) return
  if (kind === 'left' && goesOn(following, exchange)) {
    following.left.add(exchange.request)
    return
  }
  const isAnswered = exchange.ended !== null && exchange.status < 500
  if (isAnswered) events.answered(following, seat, exchange)
  else following.states = events.keepLate(following, one)
  following.over.add(exchange.request)
  leave(following, seat, events)
}

const changes = {
  intent: 'the password is changed',
  change: 'the password is changed',
  disable: 'the account is disabled',
  enable: 'the account is enabled',
  signOut: 'sign-out everywhere',
} as const

type AccountWritten = Extract<IntentWrite, { readonly kind: 'account' }>

/** A write of another one. */
function changed({ steps, states }: FollowingIntent, { write, account }: AccountWritten) {
  if (account === null || write === 'fence') return states
  return states.flatMap((state) => {
    const isEnabled = write === 'enable' && steps.value(state, 'disabled') === 0
    return isEnabled ? [state] : steps.take(state, changes[write])
  })
}

function accountWritten(
  following: FollowingIntent,
  write: AccountWritten,
  events: IntentEvents,
): void {
  const { steps, story, accountToCome } = following
  const own = events.accountWritten(following, write)
  following.states = own ?? changed(following, write)
  if (isOwnWrite(story, write)) {
    accountToCome.set(write.request, (accountToCome.get(write.request) ?? 1) - 1)
    if (write.account !== null) following.isWritten = true
  }
  if (write.account === null) return
  const known = Object.entries(valuesOf(write.account, story.issued.since))
  following.states = following.states.filter((state) =>
    known.every(([name, value]) => steps.value(state, name) === value),
  )
}

function written(
  following: FollowingIntent,
  one: Exclude<IntentEvent, Fault | { readonly exchange: Exchange }>,
  events: IntentEvents,
): void {
  const { story, toCome, living, opened, steps } = following
  const isToCome = one.kind === 'take' || isOwnWrite(story, one)
  if (isToCome) toCome.set(one.request, (toCome.get(one.request) ?? 1) - 1)
  if (one.kind === 'open') {
    opened.set(one.request, { session: one.session, epoch: one.epoch })
    if (!following.isWritten && story.handedOut.has(one.session)) living.add(one.session)
  }
  if (one.kind === 'deny') for (const session of one.sessions) living.delete(session)
  if (one.kind === 'account') accountWritten(following, one, events)
  if (one.kind === 'take') following.states = events.taken(following, one)
  if (one.kind === 'link') {
    following.states = following.states.flatMap((state) =>
      steps.value(state, 'linkThere') === 0
        ? [state]
        : steps.take(state, 'a newer link takes its place'),
    )
  }
  if (isToCome) ownWritten(following, one.request, events)
}

/** One write less of a request is to come. The last one of a request that was left ends it. */
function ownWritten(following: FollowingIntent, request: string, events: IntentEvents): void {
  const { toCome, left, over } = following
  const seat = seatedAt(following, request)
  if (seat === undefined) return
  if (toCome.get(request) === 0 && left.has(request)) over.add(request)
  leave(following, seat, events)
}

function faulty(following: FollowingIntent, fault: Fault, events: IntentEvents): void {
  const seat = seatedAt(following, fault.request)
  if (seat !== undefined) following.states = events.faulty(following, seat, fault)
}

function told(one: IntentEvent): string {
  if (!('exchange' in one)) return JSON.stringify(one)
  const { actor, operation, status, code, request } = one.exchange
  return one.kind === 'end'
    ? `${actor} ${operation} ${request} ends ${status} ${code}`
    : `${actor} ${operation} ${request} ${one.kind === 'left' ? 'is left' : 'begins'}`
}

/** Follows one link or one login ticket, as far as it goes, by the table of the model that Spin searched. */
export function followIntent(steps: IntentSteps, story: IntentStory): FollowedIntent {
  const following = begun(steps, story)
  const events = story.issued.kind === 'link' ? linkEvents : ticketEvents
  let before = following.states
  for (const [index, one] of story.events.entries()) {
    following.now = one.at
    settleIntent(following, (state, seat) => events.silent(following, state, seat))
    before = following.states
    if (one.kind === 'fault') faulty(following, one, events)
    else if (!('exchange' in one)) written(following, one, events)
    else if (one.kind !== 'begin') ends(following, one, events)
    else if (!begins(following, one.exchange, events)) {
      return { isWithin: false, taken: [], refused: null }
    }
    if (following.states.length > 0) continue
    const [state] = before
    const way = state === undefined ? [] : wayOf(state)
    const since = story.events.slice(Math.max(0, index - 14), index + 1).map(told)
    return { isWithin: true, taken: [], refused: [...way, '--', ...since].join('\n  ') }
  }
  const [state] = following.states
  return { isWithin: true, taken: state === undefined ? [] : wayOf(state), refused: null }
}
