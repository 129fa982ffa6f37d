import { places } from '../../model/refresh-holder.js'
import type { Exchange, SessionWrite } from '../history.js'
import { type Following, noted, type Seat, takeOf } from './following.js'
import type { Possible } from './possible.js'

const placeOf = (name: (typeof places)[number]): number => places.indexOf(name)

const isNowhere = ({ steps }: Following, state: Possible, seat: Seat): boolean =>
  steps.value(state, `place${seat}`) === placeOf('nowhere')

/** Its seat; null where two others sit. */
export function seatOf({ holders }: Following, actor: string): Seat | null {
  const at = holders.includes(actor) ? holders.indexOf(actor) : holders.push(actor) - 1
  return at === 0 || at === 1 ? at : null
}

/** A request is over whose write is still to come: it does not wait for that write. */
function keepLateWriters(following: Following, { request }: Exchange): void {
  if (!following.rotatesToCome.has(request)) return
  following.states = following.states.filter(({ lateWrites }) => request in lateWrites)
}

/** What came of a request that is over without a reply that says it: what it still writes is an ending's. */
function leave(following: Following, seat: Seat): void {
  const { steps, underway, writesToCome } = following
  const exchange = underway[seat]
  if (exchange === null) return
  underway[seat] = null
  const goesOn = (writesToCome.get(exchange.request) ?? 0) > 0
  const endingPlaces = { toDeny: 1, toRevoke: 2, toClose: 3 } as const
  following.states = following.states.flatMap((state) => {
    if (isNowhere(following, state, seat)) return [noted(state, seat, '')]
    const at = places[steps.value(state, `place${seat}`)]
    const gone = takeOf(following, state, seat, 'dies with its replica')
    if (!goesOn || (at !== 'toDeny' && at !== 'toRevoke' && at !== 'toClose')) return gone
    const enders = { ...state.enders, [exchange.request]: endingPlaces[at] }
    return gone.map((next) => ({ ...next, enders }))
  })
  keepLateWriters(following, exchange)
}

/** A request with a refresh token of this session begins. */
export function beginHolding(following: Following, seat: Seat, exchange: Exchange): void {
  leave(following, seat)
  const { steps } = following
  const held = exchange.shown?.gen ?? 0
  following.underway[seat] = exchange
  following.states = following.states.map((state) => {
    const fresh = noted(state, seat, '')
    // A token that it has from the other one: it was copied.
    const isOwn = steps.value(state, `held${seat}`) === held
    return isOwn ? fresh : steps.set(fresh, { [`held${seat}`]: held, [`before${seat}`]: 0 })
  })
}

/** What a request that was refused has done last, by the code of the refusal. */
const refusedBy: Readonly<Record<string, readonly string[]>> = {
  'closes the document and is refused': ['session_revoked', 'refresh_token_reused'],
  'reads that the session is idle': ['refresh_token_expired'],
  // Its own time is over, or it has come too often, before anything was asked.
  '': ['refresh_token_expired', 'rate_limited'],
}

/** Its reply. */
export function endHolding(following: Following, seat: Seat, exchange: Exchange): void {
  const { status, code, operation, issued } = exchange
  const { steps } = following
  if (status >= 500) {
    leave(following, seat)
    return
  }
  if (status >= 400) {
    following.states = following.states.filter((state) => {
      const isSaid = refusedBy[state.last[seat]]?.includes(code) === true
      return isSaid && isNowhere(following, state, seat)
    })
  } else if (operation === 'view') {
    following.states = following.states.filter((state) => {
      return state.last[seat] === 'views the session' && isNowhere(following, state, seat)
    })
  } else {
    following.states = following.states
      .flatMap((state) => takeOf(following, state, seat, 'gets its tokens'))
      .filter((state) => steps.value(state, `held${seat}`) === issued?.gen)
  }
  following.underway[seat] = null
  keepLateWriters(following, exchange)
}

const endingSteps = {
  deny: 'puts the session on the denylist',
  revoke: 'revokes the row',
  close: 'closes the document and is refused',
} as const

/** A write of the holder's present request. */
export function holderWrites(following: Following, seat: Seat, write: SessionWrite): void {
  const { steps } = following
  const { kind } = write
  if (kind === 'deny' || kind === 'revoke' || kind === 'close') {
    following.states = following.states.flatMap((state) => {
      const isRepeated = kind === 'deny' && steps.value(state, 'denied') > 0
      // Another one has revoked the row, so this one writes nothing there.
      const isRevoked = kind === 'close' && steps.value(state, 'revoked') > 0
      const passed = isRevoked ? takeOf(following, state, seat, endingSteps.revoke) : []
      const taken = [state, ...passed].flatMap((one) =>
        takeOf(following, one, seat, endingSteps[kind]),
      )
      return taken.length === 0 && isRepeated ? [state] : taken
    })
  }
}

/** The row was asked to move on by this request, which may be over. */
export function rotates(
  following: Following,
  write: Extract<SessionWrite, { readonly kind: 'rotate' }>,
): void {
  const { steps, underway, holders } = following
  const seat = ([0, 1] as const).find((one) => underway[one]?.request === write.request)
  const [inTime, late] = write.hit
    ? [['writes and wins', 'writes, and the answer is lost'], 'a late write takes effect']
    : [['writes and misses'], 'a late write misses']
  following.states = following.states.flatMap((state) => {
    const isAsking = seat !== undefined && steps.value(state, `place${seat}`) === placeOf('lost')
    const lateWrite = { request: write.request, writer: isAsking ? seat + 1 : 3 }
    const asIsLate = steps.takeLateWrite(state, lateWrite, late)
    if (seat === undefined) return asIsLate
    return [...asIsLate, ...inTime.flatMap((name) => takeOf(following, state, seat, name))]
  })
  if (write.hit && holders.length > 0) {
    following.rotatedAt = write.rotatedAt
    following.expiresAt = write.expiresAt
  }
}
