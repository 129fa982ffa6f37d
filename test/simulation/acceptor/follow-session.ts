import { compiledModel } from '../../model/followed/compiled-model.js'
import { refreshModel } from '../../model/refresh.model.js'
import {
  type Asking,
  type Exchange,
  type Happening,
  isRefresh,
  type SessionWrite,
  succeeded,
} from '../history.js'
import { barWrites, beginChange, endChange, endingWrites, userWrites } from './ending-events.js'
import { type Following, passTime, settleSilently } from './following.js'
import { beginHolding, endHolding, holderWrites, rotates, seatOf } from './holder-events.js'
import { type Possible, pathOf, type Steps, stepsOf } from './possible.js'
import type { SessionStory } from './session-story.js'

export interface Followed {
  /** False where more hold the session's tokens than the model has holders, or too many ways are open. */
  readonly isWithin: boolean
  /** The actions that the model took; one of the ways where there are several. */
  readonly taken: readonly string[]
  /** What the model cannot do; null where it did all that happened. */
  readonly refused: string | null
}

const beyond: Followed = { isWithin: false, taken: [], refused: null }

/** The place of an ending, as the model numbers it. */
const toRevokeIt = 2

/** Without the bounds of a search: each happening is one step, and time may pass at any of them. */
const bounds = { newest: 1_000_000, epochs: 1_000_000, longest: 1, still: 0 }

export const refreshSteps = (): Steps => stepsOf(compiledModel(refreshModel, bounds))

function begun(steps: Steps, story: SessionStory): Following {
  const { opened, userEpoch, enabled, deniedBefore, happenings } = story
  const first: Possible = {
    ...{ values: steps.model.initial, enders: {}, changers: {}, lateWrites: {} },
    ...{ last: ['', ''], path: null },
  }
  const epoch = userEpoch - opened.epoch
  const denied = deniedBefore.length > 0 ? 1 : 0
  const known = steps.set(first, { epoch, disabled: enabled ? 0 : 1, denied })
  // An ending that met the document of a login met its family later.
  const enders = Object.fromEntries(deniedBefore.map((request) => [request, toRevokeIt]))
  const state = { ...known, enders }
  const writesToCome = new Map<string, number>()
  const rotatesToCome = new Set<string>()
  for (const one of happenings) {
    if (!('request' in one)) continue
    if (one.kind === 'rotate') rotatesToCome.add(one.request)
    writesToCome.set(one.request, (writesToCome.get(one.request) ?? 0) + 1)
  }
  const { rotatedAt, expiresAt, at: now } = opened
  return {
    ...{ steps, story, states: [state], holders: [], underway: [null, null] },
    ...{ writesToCome, rotatesToCome },
    ...{ changes: new Set(), accesses: new Map(), rotatedAt, expiresAt, now },
  }
}

const isHolding = (exchange: Exchange): boolean =>
  isRefresh(exchange) || exchange.operation === 'view'

/** False for a third holder. */
function exchanged(following: Following, { kind, exchange }: Asking): boolean {
  const isBegin = kind === 'begin'
  if (isHolding(exchange)) {
    const seat = seatOf(following, exchange.actor)
    if (seat === null) return false
    if (isBegin) beginHolding(following, seat, exchange)
    else endHolding(following, seat, exchange)
  }
  if (exchange.operation === 'change') {
    if (isBegin) beginChange(following, exchange.request)
    else endChange(following, exchange.request, succeeded(exchange))
  }
  if (exchange.operation === 'me') {
    if (isBegin) following.accesses.set(exchange, false)
    else endAccess(following, exchange)
  }
  return true
}

/** An access that was granted was free to be at one point since it began. */
function endAccess(following: Following, exchange: Exchange): void {
  const couldBe = following.accesses.get(exchange) === true
  following.accesses.delete(exchange)
  if (succeeded(exchange) && !couldBe) following.states = []
}

function watchAccesses({ steps, states, accesses }: Following): void {
  for (const [exchange, couldBe] of accesses) {
    if (couldBe) continue
    const isFree = states.some((state) => steps.take(state, 'holder0 calls a guarded route').length)
    accesses.set(exchange, isFree)
  }
}

function written(
  following: Following,
  write: SessionWrite,
  operation: Exchange['operation'] | null,
): void {
  const { underway, writesToCome, rotatesToCome } = following
  writesToCome.set(write.request, (writesToCome.get(write.request) ?? 1) - 1)
  const seat = ([0, 1] as const).find((one) => underway[one]?.request === write.request)
  if (write.kind === 'rotate') {
    rotatesToCome.delete(write.request)
    rotates(following, write)
  } else if (write.kind === 'bar') barWrites(following, write)
  else if (write.kind === 'user') userWrites(following, write, operation)
  else if (write.kind === 'open') return
  else if (seat === undefined) endingWrites(following, write)
  else holderWrites(following, seat, write)
}

function told(happening: Happening): string {
  if (!('exchange' in happening)) return JSON.stringify(happening)
  const { actor, operation, status, code, request, shown } = happening.exchange
  const shows = `${actor} ${operation} ${request} gen ${shown?.gen ?? '-'}`
  return happening.kind === 'begin' ? `${shows} begins` : `${shows} ends ${status} ${code}`
}

/** Follows one session, as far as it goes, by the table of the model that Spin searched. */
export function followSession(
  steps: Steps,
  story: SessionStory,
  operations: ReadonlyMap<string, Exchange['operation']>,
): Followed {
  const following = begun(steps, story)
  let before = following.states
  for (const [index, happening] of story.happenings.entries()) {
    following.now = happening.at
    if (happening.kind === 'begin') passTime(following)
    if (!settleSilently(following)) return beyond
    watchAccesses(following)
    before = following.states
    if (!('exchange' in happening)) {
      written(following, happening, operations.get(happening.request) ?? null)
    } else if (!exchanged(following, happening)) {
      return beyond
    }
    watchAccesses(following)
    if (following.states.length > 0) continue
    const [one] = before
    const way = one === undefined ? [] : pathOf(one)
    const since = story.happenings.slice(Math.max(0, index - 14), index + 1).map(told)
    return { isWithin: true, taken: [], refused: [...way, '--', ...since].join('\n  ') }
  }
  const [one] = following.states
  return { isWithin: true, taken: one === undefined ? [] : pathOf(one), refused: null }
}
