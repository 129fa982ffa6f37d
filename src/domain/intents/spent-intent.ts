import type { IntentKind } from '../../engine/intents.js'
import type { User } from '../../model/user.js'
import type { IntentPayloads, JudgedFacts } from './intent-payloads.js'

const hidden = Symbol('hidden')
const spent = Symbol('spent')

interface Judged<K extends IntentKind, U extends User | null> {
  readonly kind: K
  /** The account as it was judged; null for an intent that names none. */
  readonly user: U
  /** True if an earlier request wrote the effect, and the rest of it is to be done. */
  readonly isWritten: boolean
}

/** An intent that was judged. What it carries is hidden until it is spent. */
export interface OpenedIntent<K extends IntentKind, U extends User | null = User>
  extends Judged<K, U> {
  readonly [hidden]: { readonly facts: JudgedFacts; readonly payload: IntentPayloads[K] }
}

/**
 * An intent that may have its effect. The judge alone makes one, and every effect asks for one, so that
 * no right can be used without asking whether its conditions still hold. An import rule keeps the
 * makers to the judge.
 */
export interface SpentIntent<K extends IntentKind, U extends User | null = User>
  extends Judged<K, U> {
  readonly [spent]: true
  /** Goes into `lastIntentId` of the user with the effect. */
  readonly id: string
  readonly payload: IntentPayloads[K]
}

export function openedIntent<K extends IntentKind, U extends User | null>(
  judged: Judged<K, U>,
  facts: JudgedFacts,
  payload: IntentPayloads[K],
): OpenedIntent<K, U> {
  return { ...judged, [hidden]: { facts, payload } }
}

export function hiddenOf<K extends IntentKind, U extends User | null>(opened: OpenedIntent<K, U>) {
  return opened[hidden]
}

export function spentIntent<K extends IntentKind, U extends User | null>(
  opened: OpenedIntent<K, U>,
): SpentIntent<K, U> {
  const { kind, user, isWritten } = opened
  const { facts, payload } = opened[hidden]
  return { [spent]: true, kind, user, isWritten, id: facts.id, payload }
}
