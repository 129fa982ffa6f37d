import type { Exchange, Fault, Happening, History, IntentWrite, SessionWrite } from '../history.js'

export type Issued = Extract<IntentWrite, { readonly kind: 'link' | 'ticket' }>

/** A request, its reply, a request that is given up by whom it was of, or a write. */
export type IntentEvent =
  | { readonly kind: 'begin' | 'end' | 'left'; readonly exchange: Exchange; readonly at: number }
  | IntentWrite
  | Fault
  | Extract<SessionWrite, { readonly kind: 'open' | 'deny' }>

/** What a request may have read meanwhile: a switch, or whether a time was over. */
export type Views = readonly (0 | 1)[]

/** What happened to one link or one login ticket, from the writing of its row on. */
export interface IntentStory {
  readonly issued: Issued
  /** Sessions of the account that were handed out and not put on the denylist. */
  readonly living: ReadonlySet<string>
  /** Sessions of any account whose tokens came in a reply. */
  readonly handedOut: ReadonlySet<string>
  readonly events: readonly IntentEvent[]
  /** Whether the method was switched off, as this request may have seen it. */
  offViews(exchange: Exchange): Views
  expiredViews(exchange: Exchange): Views
  /** How many requests had shown it before this one. */
  shownBefore(exchange: Exchange | null): number
}

/** How long a process may go by the settings of before. */
const staleMs = 30_000

type Switched = Extract<IntentWrite, { readonly kind: 'switch' }>

const endOf = ({ ended, endedAt }: Exchange): number => (ended === null ? Infinity : endedAt)

function offViews(switches: readonly Switched[], exchange: Exchange): Views {
  const from = exchange.begunAt - staleMs
  const before = switches.findLast(({ at }) => at < from)
  const meanwhile = switches.filter(({ at }) => at >= from && at <= endOf(exchange))
  const isOn = [before?.isOn ?? true, ...meanwhile.map((one) => one.isOn)]
  return [...new Set(isOn.map((on) => (on ? 0 : 1)))]
}

function expiredViews(exchange: Exchange, expiresAt: number): Views {
  if (exchange.begunAt >= expiresAt) return [1]
  return endOf(exchange) >= expiresAt ? [0, 1] : [0]
}

/** With the requests that are given up: whoever sends another one waits for the one before no longer. */
function withLeavings(happenings: readonly Happening[]): readonly (Happening | IntentEvent)[] {
  const underway = new Map<string, Exchange>()
  return happenings.flatMap((one): readonly (Happening | IntentEvent)[] => {
    if (one.kind === 'end') underway.delete(one.exchange.actor)
    if (one.kind !== 'begin') return [one]
    const left = underway.get(one.exchange.actor)
    underway.set(one.exchange.actor, one.exchange)
    return left === undefined ? [one] : [{ kind: 'left', exchange: left, at: one.at }, one]
  })
}

/** The link or the login ticket that a request shows, by the request; empty for one that shows none. */
type ShownBy = ReadonlyMap<string, string>

function concerns(
  { intent, userId, kind }: Issued,
  shownBy: ShownBy,
  one: Happening | IntentEvent,
): one is IntentEvent {
  switch (one.kind) {
    case 'begin':
    case 'end':
    case 'left':
      return shownBy.get(one.exchange.request) === intent
    case 'account':
    case 'open':
      return one.userId === userId
    case 'link':
      return kind === 'link' && one.userId === userId
    case 'take':
      return one.intent === intent
    case 'fault':
      return shownBy.get(one.request) === intent
    case 'deny':
      return true
    default:
      return false
  }
}

type Told = readonly (Happening | IntentEvent)[]

/** Sessions of this account that were opened and not put on the denylist. */
function livingIn(told: Told, userId: string): Set<string> {
  const living = new Set<string>()
  for (const one of told) {
    if (one.kind === 'open' && one.userId === userId) living.add(one.session)
    if (one.kind === 'deny') for (const session of one.sessions) living.delete(session)
  }
  return living
}

/** The links and the login tickets of a history that were shown, each with what happened to it. */
export function intentStories(
  history: History,
  intentOf: (exchange: Exchange) => string,
): readonly IntentStory[] {
  const told = withLeavings(history.happenings)
  const switches = told.filter((one): one is Switched => one.kind === 'switch')
  const shownBy = new Map(history.exchanges.map((one) => [one.request, intentOf(one)]))
  const shown = new Set(shownBy.values())
  const handedOut = new Set(history.exchanges.map(({ issued }) => issued?.sid ?? ''))

  function storyOf(issued: Issued, index: number): IntentStory {
    const before = livingIn(told.slice(0, index), issued.userId)
    const events = told
      .slice(index + 1)
      .filter((one): one is IntentEvent => concerns(issued, shownBy, one))
    const begun = events.flatMap((one) => (one.kind === 'begin' ? [one.exchange] : []))
    return {
      ...{ issued, handedOut, events },
      living: new Set([...before].filter((session) => handedOut.has(session))),
      offViews: (exchange) => offViews(switches, exchange),
      expiredViews: (exchange) => expiredViews(exchange, issued.expiresAt),
      shownBefore: (exchange) => begun.findIndex((one) => one.request === exchange?.request),
    }
  }

  return told.flatMap((one, index) => {
    const isIntent = one.kind === 'link' || one.kind === 'ticket'
    return isIntent && shown.has(one.intent) ? [storyOf(one, index)] : []
  })
}
