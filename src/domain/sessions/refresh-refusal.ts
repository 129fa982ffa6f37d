import type { RefreshDecision } from '../../engine/refresh-rules.js'
import type { ErrorCode } from '../../errors/index.js'
import { isHuman, type User } from '../../model/user.js'
import type { DenylistEntry } from '../../ports/backend.js'
import type { EndReason } from '../../ports/events.js'
import type { Attempt } from './refresh-reading.js'

/** A refused refresh: the code to answer, and the ending to carry out first, if any. */
export interface Refusal {
  readonly code: ErrorCode
  readonly end: EndReason | null
}

/** Whether the user may hold a session and this one is not on the denylist; the row may still refuse it. */
export function isStanding<A extends Attempt>(attempt: A): attempt is A & { readonly user: User } {
  const { user, entry } = attempt
  return entry === null && user !== null && user.enabled && isHuman(user)
}

/** What refuses an attempt that does not stand, or `ofRow` where the row gives the reason. */
export function refusalOfStanding(
  { user, entry }: Pick<Attempt, 'user' | 'entry'>,
  { outcome }: RefreshDecision<EndReason>,
): Refusal | 'ofRow' {
  if (outcome === 'revoked') return 'ofRow'
  // Also when its ending was interrupted: the alarm has not been raised yet. A session over its
  // maximum age is never called anything else.
  const isMisuse = outcome === 'replay' || outcome === 'rolledBack'
  if (isMisuse && entry?.reason !== 'max_age') return 'ofRow'
  // The row does not say so yet: an ending was begun and not finished. Finish it.
  if (entry !== null) return unfinished(entry)
  if (outcome === 'unknown' || (user !== null && !isHuman(user))) {
    return { code: 'refresh_token_invalid', end: null }
  }
  return { code: 'session_revoked', end: 'admin' }
}

/** Listed, but not ended in its row: an ending was started and not completed. */
function unfinished({ reason }: DenylistEntry): Refusal {
  return reason === 'max_age'
    ? { code: 'session_max_age_reached', end: 'max_age' }
    : { code: 'session_revoked', end: 'admin' }
}

/** Null for a decision that refuses nothing. */
export function refusalOf(decision: RefreshDecision<EndReason>): Refusal | null {
  switch (decision.outcome) {
    case 'unknown':
    case 'wrongDelivery':
      return { code: 'refresh_token_invalid', end: null }
    case 'revoked':
      return {
        code: decision.reason === 'max_age' ? 'session_max_age_reached' : 'session_revoked',
        end: null,
      }
    case 'rolledBack':
      return { code: 'refresh_token_invalid', end: 'admin' }
    case 'replay':
      return { code: 'refresh_token_reused', end: 'replay' }
    case 'expired':
      return { code: 'refresh_token_expired', end: null }
    case 'outdated':
      return { code: 'session_revoked', end: 'admin' }
    case 'maxAge':
      return { code: 'session_max_age_reached', end: 'max_age' }
    case 'current':
    case 'reissue':
    case 'alreadyRotated':
      return null
  }
}
