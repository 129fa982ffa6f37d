const second = 1000
const minute = 60 * second
const hour = 60 * minute

/** Milliseconds from one failed attempt to the next. No attempt follows the last. */
const waits: readonly number[] = [
  // Longer than an attempt may take, so that it is over before the next one begins.
  30 * second,
  2 * minute,
  5 * minute,
  30 * minute,
  2 * hour,
  6 * hour,
  12 * hour,
]

/** How often a delivery is attempted at most, over some 21 hours. */
export const mostAttempts = waits.length + 1

/** How long to wait after attempt number `attempt`, the first being 1; null after the last. */
export function waitAfterAttempt(attempt: number): number | null {
  return waits[attempt - 1] ?? null
}

/** The events webhooks are told of, and what a webhook that does not want all of them chooses by. */
const kinds: Readonly<Record<string, 'login' | 'account'>> = {
  'login.succeeded': 'login',
  'login.newDevice': 'login',
  'session.terminated': 'login',
  'refresh.replayDetected': 'login',
  'refresh.reissued': 'login',
  'refresh.unusual': 'login',
  'password.changed': 'account',
  'email.changed': 'account',
  'mfa.changed': 'account',
  'account.deleted': 'account',
}

/** Whether a webhook that asked for `wanted` is told of an event of this type. */
export function wantsEvent(wanted: 'all' | 'login' | 'account', type: string): boolean {
  const kind = Object.hasOwn(kinds, type) ? kinds[type] : undefined
  return kind !== undefined && (wanted === 'all' || wanted === kind)
}
