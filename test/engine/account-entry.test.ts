import { describe, expect, it } from 'vitest'
import {
  type AccountEntry,
  type EntryFacts,
  type EntryRules,
  entryRefusal,
  entryRules,
  loginEntry,
} from '../../src/engine/accounts.js'

const open: EntryRules = {
  registrationEnabled: true,
  passwordLoginEnabled: true,
  passwordlessEnabled: true,
  allowedDomains: [],
  requiredTerms: '',
  verificationRequired: true,
}

const ada = { email: 'ada@example.org', acceptedTerms: '' }
const own = [{ domain: 'example.org', includeSubdomains: false }]

describe('who may sign up by a provider', () => {
  it.each<[string, Partial<EntryRules>, object, string | null]>([
    ['anybody with an address, where it is open', {}, {}, null],
    ['nobody where it is closed', { registrationEnabled: false }, {}, 'registration_disabled'],
    ['nobody nobody vouches for', {}, { email: null }, 'oauth_email_unverified'],
    [
      'nobody where it is closed, vouched for or not',
      { registrationEnabled: false },
      { email: null },
      'registration_disabled',
    ],
    ['nobody who cannot get mail', {}, { email: 'a@b.invalid' }, 'email_not_allowed'],
    ['somebody of a domain', { allowedDomains: own }, {}, null],
    [
      'nobody of another',
      { allowedDomains: own },
      { email: 'a@b.example' },
      'email_domain_not_allowed',
    ],
    ['somebody who accepted the terms', { requiredTerms: '2' }, { acceptedTerms: '2' }, null],
    [
      'nobody who accepted others',
      { requiredTerms: '2' },
      { acceptedTerms: '1' },
      'terms_not_accepted',
    ],
    ['nobody who accepted none', { requiredTerms: '2' }, {}, 'terms_not_accepted'],
  ])('%s', (_who, rules, signUp, refusal) => {
    const applicant = { ...ada, ...signUp }
    expect(entryRefusal('providerSignUp', { ...open, ...rules }, { applicant })).toBe(refusal)
  })
})

/** What may be wrong, each alone, and the doors that it shuts. Every other cell is open. */
const wrongs: readonly (readonly [
  string,
  Partial<EntryRules>,
  EntryFacts,
  Partial<Record<AccountEntry, string>>,
])[] = [
  ['nothing', {}, {}, {}],
  [
    'registration is closed',
    { registrationEnabled: false },
    {},
    { register: 'registration_disabled', providerSignUp: 'registration_disabled' },
  ],
  [
    'passwords are switched off',
    { passwordLoginEnabled: false },
    {},
    {
      register: 'password_login_disabled',
      passwordLogin: 'password_login_disabled',
      recovery: 'password_login_disabled',
    },
  ],
  [
    'passkeys stand for no password',
    { passwordlessEnabled: false },
    {},
    { passkeyLogin: 'mfa_method_disabled' },
  ],
  [
    'the address gets no mail',
    {},
    { applicant: { ...ada, email: 'a@b.invalid' } },
    {
      register: 'email_not_allowed',
      providerSignUp: 'email_not_allowed',
      create: 'email_not_allowed',
      addressChange: 'email_not_allowed',
    },
  ],
  [
    'the domain is none of the allowed',
    { allowedDomains: [{ domain: 'b.example', includeSubdomains: true }] },
    {},
    {
      register: 'email_domain_not_allowed',
      providerSignUp: 'email_domain_not_allowed',
      addressChange: 'email_domain_not_allowed',
    },
  ],
  [
    'the terms are newer',
    { requiredTerms: '2' },
    {},
    { register: 'terms_not_accepted', providerSignUp: 'terms_not_accepted' },
  ],
  [
    'the account is disabled',
    {},
    { account: { enabled: false, emailVerifiedAt: 1 } },
    {
      passwordLogin: 'invalid_credentials',
      passkeyLogin: 'invalid_credentials',
      providerLogin: 'invalid_credentials',
    },
  ],
  [
    'the account is a machine’s',
    {},
    { account: { kind: 'service', enabled: true, emailVerifiedAt: 1 } },
    {
      passwordLogin: 'invalid_credentials',
      passkeyLogin: 'invalid_credentials',
      providerLogin: 'invalid_credentials',
    },
  ],
  [
    'nobody proved the mailbox',
    {},
    { account: { enabled: true, emailVerifiedAt: null } },
    {
      passwordLogin: 'email_not_verified',
      passkeyLogin: 'email_not_verified',
      providerLogin: 'email_not_verified',
    },
  ],
  [
    'nobody proved the mailbox, and nobody has to',
    { verificationRequired: false },
    { account: { enabled: true, emailVerifiedAt: null } },
    {},
  ],
]

const doors: readonly AccountEntry[] = [
  'register',
  'providerSignUp',
  'create',
  'addressChange',
  'passwordLogin',
  'passkeyLogin',
  'providerLogin',
  'recovery',
]

describe('every door, where one thing is wrong', () => {
  it.each(wrongs)('%s', (_what, rules, comer, shut) => {
    const all = {
      applicant: ada,
      account: { enabled: true, emailVerifiedAt: 1 },
      ...comer,
    }
    const found = doors.map((door) => [
      door,
      entryRefusal(door, { ...open, ...rules }, all) ?? 'open',
    ])
    expect(found).toEqual(doors.map((door) => [door, shut[door] ?? 'open']))
  })

  it('asks nothing of what is not known yet', () => {
    const strict = { ...open, requiredTerms: '2', allowedDomains: own }
    expect(doors.filter((door) => entryRefusal(door, strict) !== null)).toEqual([])
  })

  it('tells the doors of logins by their first factor', () => {
    expect(['password', 'webauthn', 'google'].map(loginEntry)).toEqual([
      'passwordLogin',
      'passkeyLogin',
      'providerLogin',
    ])
  })
})

it('the doors read the settings of their surface', () => {
  const settings = {
    registrationOperatorEnabled: false,
    registrationClientEnabled: true,
    passwordLoginOperatorEnabled: true,
    passwordLoginClientEnabled: false,
    loginRateOperator: 1,
    loginRateClient: 1,
    registrationAllowedDomains: [
      { domain: 'example.org', includeSubdomains: false, surface: 'client' },
    ],
    mfaPolicyOperator: 'required',
    mfaPolicyClient: 'optional',
    trustedDeviceOperatorEnabled: false,
    trustedDeviceClientEnabled: false,
    accountDeletionMode: 'off',
    registrationTermsVersion: '2026-01',
    emailVerificationRequired: false,
    webauthnMode: 'passwordless',
  } as const
  expect(entryRules('client', settings)).toEqual({
    ...{ registrationEnabled: true, passwordLoginEnabled: false, passwordlessEnabled: true },
    allowedDomains: settings.registrationAllowedDomains,
    ...{ requiredTerms: '2026-01', verificationRequired: false },
  })
  const second = { ...settings, webauthnMode: 'secondFactor' } as const
  expect(entryRules('operator', second)).toEqual({
    ...{ registrationEnabled: false, passwordLoginEnabled: true, passwordlessEnabled: false },
    allowedDomains: [],
    ...{ requiredTerms: '2026-01', verificationRequired: true },
  })
})
