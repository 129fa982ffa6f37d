import type { User } from './user.js'

/** What tells one new account from another; the rest is as with every account that begins. */
type Given = Pick<User, 'id' | 'email' | 'emailAsTyped' | 'name'> &
  Partial<
    Pick<
      User,
      | 'kind'
      | 'emailVerifiedAt'
      | 'systemRole'
      | 'enabled'
      | 'selfRegistered'
      | 'passwordHash'
      | 'passwordChangedAt'
      | 'termsVersion'
      | 'memberships'
      | 'lastIntentId'
    >
  >

/** The record of an account made at `now`. Unless said otherwise: an enabled person without rights. */
export function newUser(now: number, given: Given): User {
  return {
    expiresAt: null,
    kind: '',
    emailVerifiedAt: null,
    systemRole: 'guest',
    enabled: true,
    selfRegistered: false,
    passwordHash: null,
    passwordChangedAt: null,
    termsVersion: null,
    memberships: [],
    sessionEpoch: 0,
    keptSessionId: null,
    credentialEpoch: 0,
    deviceEpoch: 0,
    createdAt: now,
    updatedAt: now,
    lastLoginAt: null,
    deletingAt: null,
    endedBefore: null,
    lastIntentId: null,
    ...given,
  }
}
