import { describe, expect, it } from 'vitest'
import { isStanding, refusalOfStanding } from '../../../src/domain/sessions/refresh-reading.js'
import type { RefreshDecision } from '../../../src/engine/refresh-rules.js'
import type { User } from '../../../src/model/user.js'
import type { DenylistEntry } from '../../../src/ports/backend.js'
import type { EndReason } from '../../../src/ports/events.js'

const someone = { kind: '', enabled: true } as User
const service = { kind: 'service', enabled: true } as User
const listed = (reason: DenylistEntry['reason']): DenylistEntry =>
  ({ id: 's', reason, expiresAt: 1 }) as DenylistEntry

const current: RefreshDecision<EndReason> = { outcome: 'current' }
const replay: RefreshDecision<EndReason> = { outcome: 'replay' }
const rolledBack: RefreshDecision<EndReason> = { outcome: 'rolledBack' }

const revoked = { code: 'session_revoked', end: 'admin' }
const tooOld = { code: 'session_max_age_reached', end: 'max_age' }
const invalid = { code: 'refresh_token_invalid', end: null }

describe('a refresh of a session that does not stand', () => {
  it.each([
    ['on the denylist', someone, listed('revoked'), current, revoked],
    ['on the denylist for its age', someone, listed('max_age'), current, tooOld],
    ['retired, on the denylist', someone, listed('revoked'), replay, 'ofRow'],
    ['retired, on the denylist for its age', someone, listed('max_age'), replay, tooOld],
    ['rolled back, on the denylist', someone, listed('revoked'), rolledBack, 'ofRow'],
    ['rolled back, on the denylist for its age', someone, listed('max_age'), rolledBack, tooOld],
    [
      'of a row that is revoked',
      someone,
      listed('revoked'),
      { outcome: 'revoked', reason: 'logout' },
      'ofRow',
    ],
    ['without a row', null, null, { outcome: 'unknown' }, invalid],
    ['of an account that is gone', null, null, current, revoked],
    ['of an account that is switched off', { ...someone, enabled: false }, null, current, revoked],
    ['of a service account', service, null, current, invalid],
    ['retired, of an account that is gone', null, null, replay, 'ofRow'],
  ] as const)('%s', (_what, user, entry, decision, expected) => {
    expect(isStanding({ user, entry } as Parameters<typeof isStanding>[0])).toBe(false)
    expect(refusalOfStanding({ user, entry }, decision)).toEqual(expected)
  })
})
