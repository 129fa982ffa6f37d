import { describe, expect, it } from 'vitest'
import type {
  SupertokensAccount,
  SupertokensLogin,
} from '../../../../src/cli/import/supertokens/supertokens-account.js'
import { supertokensRow } from '../../../../src/cli/import/supertokens/supertokens-row.js'

const microsoftTenant = '72f988bf-86f1-41af-91ab-2d7cd011db47'
const rules = { roles: new Map(), dropSecondFactors: false }
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
const ada = 'ada@example.org'

const login = (
  recipe: SupertokensLogin['recipe'],
  cells: SupertokensLogin['cells'],
  more: Partial<SupertokensLogin> = {},
): SupertokensLogin => ({
  ...{ id: recipe, recipe, email: ada, isVerified: true, joinedAt: 1000, cells },
  ...more,
})
const password = (more: Partial<SupertokensLogin> = {}, hash = '$2a$10$abc') =>
  login('emailpassword', { password_hash: hash }, more)
const at = (provider: string, more: Partial<SupertokensLogin> = {}) =>
  login('thirdparty', { third_party_id: provider, third_party_user_id: 'x' }, more)
const device = (more: object = {}) => ({
  ...{ secret_key: secret, period: 30, verified: true, created_at: '5' },
  ...more,
})
const unverified = { isVerified: false }

function rowOf(account: Partial<SupertokensAccount>, options = {}) {
  const { user, notCarried } = supertokensRow(
    {
      ...{ key: '0199a1b2-0000-7000-8000-000000000001', isShared: false, isElsewhere: false },
      ...{ logins: [password()], devices: [], roles: [], metadata: {} },
      ...account,
    },
    true,
    { rules, space: 'client', microsoftTenant, ...options },
  )
  return { user, codes: notCarried.map(({ code }) => code) }
}

it.each([
  ['$2a$10$abc', '$2a$10$abc'],
  ['$argon2id$v=19$m=64,t=1,p=1$c2FsdA$aGFzaA', '$argon2id$v=19$m=64,t=1,p=1$c2FsdA$aGFzaA'],
  ['$f_scrypt$aGFzaA==$c2FsdA==$m=14$r=8$s=Bw==', '$firebase-scrypt$c2FsdA==$aGFzaA=='],
])('the hash %s becomes %s', (stored, hash) => {
  expect(rowOf({ logins: [password({}, stored)] }).user?.passwordHash).toBe(hash)
})

it.each([
  ['google', { provider: 'google', issuer: 'https://accounts.google.com' }],
  ['google-workspaces', { provider: 'google', issuer: 'https://accounts.google.com' }],
  ['github', { provider: 'github', issuer: 'https://github.com/login/oauth' }],
  ['apple', { provider: 'apple', issuer: 'https://appleid.apple.com' }],
  [
    'active-directory',
    {
      provider: 'microsoft',
      issuer: `https://login.microsoftonline.com/${microsoftTenant}/v2.0`,
    },
  ],
  ['google-of-a-tenant', null],
  ['discord', null],
])('an account at %s becomes %o', (provider, identity) => {
  const { user, codes } = rowOf({ logins: [at(provider)] })
  expect(user?.identities).toEqual(identity === null ? [] : [{ ...identity, subject: 'x' }])
  expect(codes).toEqual(identity === null ? ['provider'] : [])
})

it('leaves accounts at Microsoft behind where no directory is named', () => {
  const { user, codes } = rowOf({ logins: [at('active-directory')] }, { microsoftTenant: null })
  expect([user?.identities, codes]).toEqual([[], ['provider']])
})

describe('linked users', () => {
  it('have the address that is verified, with the password before others', () => {
    const emails = (...logins: readonly SupertokensLogin[]) => rowOf({ logins }).user?.email
    const other = 'other@example.org'
    const older = { email: other, joinedAt: 1 }
    expect(emails(at('google', older), password())).toBe(ada)
    expect(emails(password(unverified), at('google', { email: other }))).toBe(other)
    const younger = { id: 'younger', joinedAt: 2000 }
    expect(emails(at('apple', { ...younger, email: other }), at('google'))).toBe(ada)
  })

  it('lose a password and an account at a provider whose own address is not verified', () => {
    const planted = rowOf({ logins: [password(unverified), at('google')] })
    expect([planted.user?.emailVerified, planted.user?.passwordHash, planted.codes]).toEqual([
      true,
      null,
      ['password'],
    ])
    const added = rowOf({ logins: [password(), at('github', unverified)] })
    expect([added.user?.passwordHash, added.user?.identities, added.codes]).toEqual([
      '$2a$10$abc',
      [],
      ['identity_unverified'],
    ])
  })

  it('keep the password of their address where nothing is verified, and no identity', () => {
    const { user, codes } = rowOf({ logins: [password(unverified), at('google', unverified)] })
    expect(user).toMatchObject({ emailVerified: false, passwordHash: '$2a$10$abc', identities: [] })
    expect(codes).toEqual(['identity_unverified'])
  })

  it('keep one of two passwords: that of their address', () => {
    const second = password(
      { id: 'second', email: 'other@example.org', joinedAt: 2000 },
      '$2a$10$second',
    )
    const { user, codes } = rowOf({ logins: [second, password()] })
    expect([user?.email, user?.passwordHash, codes]).toEqual([ada, '$2a$10$abc', ['password']])
  })

  it('keep no app where a stranger may be one of them', () => {
    const logins = [password(unverified), at('google')]
    const { user, codes } = rowOf({ logins, devices: [device()] })
    expect([user, codes]).toEqual([null, ['password', 'second_factor']])
  })
})

describe('second factors', () => {
  it.each([
    ['an app', [device()], {}, secret, []],
    ['an app that was never confirmed', [device({ verified: false })], {}, undefined, []],
    [
      'two apps, of which the older one has another period',
      [device({ created_at: '9' }), device({ period: 60, secret_key: 'A'.repeat(32) })],
      {},
      secret,
      ['other_factors'],
    ],
    [
      'two apps, of which the older one is first made',
      [device({ created_at: '9', secret_key: 'A'.repeat(32) }), device()],
      {},
      secret,
      ['other_factors'],
    ],
    ['an app and codes by mail', [device()], ['totp', 'otp-email'], secret, ['other_factors']],
    ['an app that is asked for and not there', [], ['totp'], undefined, []],
  ])('carries %s', (_, devices, factors, totpSecret, expected) => {
    const metadata = { _supertokens: { requiredSecondaryFactors: factors } }
    const { user, codes } = rowOf({ devices, metadata })
    expect([user?.email, user?.totpSecret, codes]).toEqual([ada, totpSecret, expected])
  })

  it.each([
    ['another period', [device({ period: 60 })], []],
    ['codes by phone alone', [], ['otp-phone']],
    ['a secret that is too short', [device({ secret_key: 'GEZDGNBV' })], []],
  ])('refuses the row for %s', (_, devices, factors) => {
    const metadata = { _supertokens: { requiredSecondaryFactors: factors } }
    const given = { devices, metadata }
    expect(rowOf(given)).toEqual({ user: null, codes: ['second_factor'] })
    const dropped = rowOf(given, { rules: { ...rules, dropSecondFactors: true } })
    expect([dropped.user?.email, dropped.codes]).toEqual([ada, ['second_factor']])
  })
})

it('takes a name from the metadata, and from nothing that is no text', () => {
  const named = (metadata: Readonly<Record<string, unknown>>) => rowOf({ metadata }).user?.name
  expect(named({ first_name: 'Ada', last_name: 'Lovelace' })).toBe('Ada Lovelace')
  expect(named({ first_name: '', last_name: 'Lovelace' })).toBe('Lovelace')
  for (const odd of [{}, { first_name: null }, { first_name: { of: 'x' } }]) {
    expect(named(odd)).toBeNull()
  }
})

it('has no address for a phone number, and none that was made up', () => {
  const phone = login('passwordless', { phone_number: '+441815' }, { email: null })
  expect(rowOf({ logins: [phone] })).toMatchObject({ user: { email: '' }, codes: ['sign_in_name'] })
  const made = login(
    'thirdparty',
    { third_party_id: 'github', third_party_user_id: 'x', email: 'x@stfakeemail.supertokens.com' },
    { email: null, isVerified: false },
  )
  expect(rowOf({ logins: [made] })).toMatchObject({
    user: { email: '', identities: [] },
    codes: ['made_up_address', 'identity_unverified'],
  })
})
