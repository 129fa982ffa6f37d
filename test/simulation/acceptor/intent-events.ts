import type { Exchange, Fault, IntentWrite } from '../history.js'
import type { FollowingIntent, IntentSeat } from './following-intent.js'
import type { PossibleIntent } from './intent-steps.js'
import type { IntentEvent } from './intent-story.js'

type Write<Kind extends IntentWrite['kind']> = Extract<IntentWrite, { readonly kind: Kind }>

/** A request ends, or its client waits for it no longer. */
export type IntentOver = Extract<IntentEvent, { readonly kind: 'begin' | 'end' | 'left' }>

/** What the requests with one kind of intent do in the model. */
export interface IntentEvents {
  /** Whether the model has a write on the account that no request waits for. */
  readonly hasLateWrites: boolean
  /** What one may do that shows in no write. */
  silent(
    following: FollowingIntent,
    state: PossibleIntent,
    seat: IntentSeat,
  ): readonly PossibleIntent[]
  /** Another request takes the seat. */
  anew(following: FollowingIntent, state: PossibleIntent, seat: IntentSeat): PossibleIntent
  /** Whether it has nothing more to do. */
  isPlain(following: FollowingIntent, state: PossibleIntent, seat: IntentSeat): boolean
  dies(
    following: FollowingIntent,
    state: PossibleIntent,
    seat: IntentSeat,
  ): readonly PossibleIntent[]
  /** The states in which it may be over, whatever of it is still to be written. */
  keepLate(following: FollowingIntent, over: IntentOver): readonly PossibleIntent[]
  /** A reply below 500. */
  answered(following: FollowingIntent, seat: IntentSeat, exchange: Exchange): void
  /** Null for a write on the account that is none of its own. */
  accountWritten(
    following: FollowingIntent,
    write: Write<'account'>,
  ): readonly PossibleIntent[] | null
  taken(following: FollowingIntent, write: Write<'take'>): readonly PossibleIntent[]
  /** A call of the request on this seat fails, or is not answered. */
  faulty(following: FollowingIntent, seat: IntentSeat, fault: Fault): readonly PossibleIntent[]
}
