import type { RefreshDecision } from '../../engine/refresh-rules.js'
import type { ErrorCode } from '../../errors/index.js'
import type { DenylistEntry } from '../../ports/denylist.js'
import type { EndReason } from '../../ports/session-event.js'

/** A refused refresh: the code to answer, and the ending to carry out first, if any. */
export interface Refusal {
  readonly code: ErrorCode
  readonly end: EndReason | null
}

/** Listed, but not ended in its row: an ending was started and not completed. */
export function unfinished({ reason }: DenylistEntry): Refusal {
  return reason === 'max_age'
    ? { code: 'session_max_age_reached', end: 'max_age' }
    : { code: 'session_revoked', end: 'admin' }
}

/** Null for a decision that refuses nothing. */
export function refusalOf(decision: RefreshDecision<EndReason>): Refusal | null {
  switch (decision.outcome) {
    case 'unknown':
    case 'otherDoor':
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
