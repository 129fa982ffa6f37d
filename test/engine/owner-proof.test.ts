import { describe, expect, it } from 'vitest'
import {
  isVerificationRequired,
  linkProof,
  ownerProvedWrite,
  providerProof,
} from '../../src/engine/accounts.js'

describe('whether a mailbox is proved before the first login', () => {
  it.each([
    [true, 'off', true],
    [true, 'required', true],
    [false, 'off', false],
    [false, 'optional', false],
    [false, 'required', true],
  ] as const)('asked for: %s, second factor %s: %s', (emailVerificationRequired, mfaPolicy, is) => {
    expect(isVerificationRequired({ emailVerificationRequired }, { mfaPolicy })).toBe(is)
  })
})

describe('how a link confirms an account', () => {
  it.each([
    [null, true, true, 'choose'],
    [null, true, false, 'alone'],
    [null, false, true, 'alone'],
    [null, false, false, 'alone'],
    ['a hash', false, true, 'clear'],
    ['a hash', false, false, 'clear'],
    ['a hash', true, true, 'compare'],
    ['a hash', true, false, 'ask'],
  ] as const)(
    'password %s, passwords on: %s, one named: %s: %s',
    (passwordHash, on, names, how) => {
      expect(linkProof({ passwordHash }, { passwordLoginEnabled: on }, names)).toBe(how)
    },
  )
})

const plain = {
  kind: '',
  enabled: true,
  selfRegistered: true,
  emailVerifiedAt: null,
  systemRole: 'guest',
  passwordHash: 'a hash',
  memberships: [],
}
const nothing = { bindings: 0, identities: 0, factors: 0 }

describe('whether a provider opens an account that has the address', () => {
  it('proves the mailbox of one that was registered by the form, whatever was planted on it', () => {
    expect(providerProof(plain, nothing)).toBe('prove')
    expect(providerProof({ ...plain, kind: null }, nothing)).toBe('prove')
    const { kind: _, ...older } = plain
    expect(providerProof(older, { ...nothing, identities: 1, factors: 2 })).toBe('prove')
  })

  it.each([
    ['a machine', { kind: 'service' }, {}],
    ['disabled', { enabled: false }, {}],
    ['made by the host', { selfRegistered: false }, {}],
    ['of a role', { systemRole: 'editor' }, {}],
    ['in a tenant', { memberships: [{ tenantId: 'acme' }] }, {}],
    ['bound to a role', {}, { bindings: 1 }],
  ] as const)('never one that is %s', (_name, user, has) => {
    expect(providerProof({ ...plain, ...user }, { ...nothing, ...has })).toBe('refuse')
  })

  it('joins one that was proved only where nothing can sign in to it', () => {
    const proved = { ...plain, emailVerifiedAt: 1, passwordHash: null }
    expect(providerProof(proved, nothing)).toBe('join')
    expect(providerProof({ ...proved, passwordHash: 'a hash' }, nothing)).toBe('refuse')
    expect(providerProof(proved, { ...nothing, identities: 1 })).toBe('refuse')
    expect(providerProof(proved, { ...nothing, factors: 1 })).toBe('refuse')
  })
})

describe('the write by which an account comes to the owner of its mailbox', () => {
  const seen = { email: 'ada@example.org', sessionEpoch: 1, credentialEpoch: 20, deviceEpoch: 300 }
  const user = { ...seen, selfRegistered: true, name: 'Mallory', termsVersion: '2026-01' }

  it('asks for all that it read, and retires all that was planted', () => {
    const given = { passwordHash: 'a hash', name: '', termsVersion: null, lastIntentId: 'a link' }
    expect(ownerProvedWrite(user, given, 5000)).toEqual({
      guard: { ...seen, emailVerifiedAt: null, enabled: true, kind: '' },
      set: {
        ...{ emailVerifiedAt: 5000, updatedAt: 5000, keptSessionId: null, ...given },
        ...{ passwordChangedAt: 5000, sessionEpoch: 2, credentialEpoch: 21, deviceEpoch: 301 },
      },
    })
  })

  it('takes what the owner says with the proof, and leaves one that the host gave', () => {
    const given = { passwordHash: null, name: 'Ada', termsVersion: '2026-02', lastIntentId: null }
    const owners = { name: 'Ada', termsVersion: '2026-02' }
    expect(ownerProvedWrite(user, given, 5000).set).toMatchObject(owners)
    const { set } = ownerProvedWrite({ ...user, selfRegistered: false }, given, 5000)
    expect(Object.keys(set)).not.toContain('name')
    expect(Object.keys(set)).not.toContain('termsVersion')
  })

  it('leaves an account without a password without the time of its change', () => {
    const given = { passwordHash: null, name: '', termsVersion: null, lastIntentId: null }
    const { set } = ownerProvedWrite(user, given, 5000)
    expect(set).toMatchObject({ passwordHash: null, passwordChangedAt: null, lastIntentId: null })
  })
})
