import { decodeJwt } from 'jose'
import { describe, expect, it } from 'vitest'
import { mintAccess, mintServiceAccess } from '../../../src/domain/sessions/tokens.js'
import type { User } from '../../../src/model/user.js'
import { testContext } from '../../support/test-context.js'

const user: User = {
  id: '01890a5d-ac96-774b-bcce-b302099a8057',
  expiresAt: null,
  kind: '',
  email: 'ada@example.org',
  emailAsTyped: 'ada@example.org',
  emailVerifiedAt: 0,
  name: 'Ada',
  systemRole: 'guest',
  enabled: true,
  selfRegistered: false,
  passwordHash: null,
  passwordChangedAt: null,
  termsVersion: null,
  memberships: [{ tenantId: 'acme' }],
  membershipsRevision: 0,
  sessionEpoch: 0,
  keptSessionId: null,
  keptIntentId: null,
  credentialEpoch: 0,
  deviceEpoch: 0,
  secretsEpoch: 0,
  secretsChangedIn: null,
  createdAt: 0,
  updatedAt: 0,
  lastLoginAt: null,
  deletingAt: null,
  endedBefore: null,
  lastIntentId: null,
  settledEnrollmentId: null,
  importState: null,
  addressStart: '',
  soleTenant: '',
  createdWeek: 0,
}

const how = { amr: ['pwd'], authTime: 1 }

describe('the one place access tokens are minted', () => {
  it('gives a machine none for a session, and a person none for client credentials', async () => {
    const ctx = await testContext({ surface: 'operator' })
    for (const kind of ['service', 'robot']) {
      const minted = mintAccess(ctx, { ...user, kind }, 'sid', how, 60_000)
      await expect(minted).rejects.toMatchObject({ code: 'refresh_token_invalid' })
    }
    for (const kind of ['', 'robot', 'Service']) {
      const minted = mintServiceAccess(ctx, { ...user, kind }, 'credential', 60_000)
      await expect(minted).rejects.toMatchObject({ code: 'invalid_client' })
    }
  })

  it('gives each the same claims, but for what a session has', async () => {
    const ctx = await testContext({ surface: 'operator' })
    const person = decodeJwt((await mintAccess(ctx, user, 'sid', how, 60_000)).accessToken)
    const machine = await mintServiceAccess(ctx, { ...user, kind: 'service' }, 'credential', 60_000)
    const claims = decodeJwt(machine.accessToken)
    expect([person.aud, claims.aud]).toEqual(['operator', 'service'])
    expect([person['sid'], 'sid' in claims]).toEqual(['sid', false])
    expect(Object.keys({ ...claims, sid: '' }).sort()).toEqual(Object.keys(person).sort())
    expect(claims['memberships']).toEqual(person['memberships'])
    // For services that judge the token by RFC 9068.
    expect([person['client_id'], claims['client_id']]).toEqual(['operator', 'credential'])
    expect([person['auth_time'], claims['auth_time']]).toEqual([1, claims.iat])
  })
})
