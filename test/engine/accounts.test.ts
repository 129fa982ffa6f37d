import { describe, expect, it } from 'vitest'
import {
  type AccountEntry,
  type EntryFacts,
  type EntryRules,
  entryRefusal,
  entryRules,
  isPeopleOnlyRole,
  isUnfinishedImport,
  isVerificationRequired,
  isVouchedFor,
  linkProof,
  loginEntry,
  ownerProvedWrite,
  providerProof,
  roleProblem,
  userProblem,
} from '../../src/engine/accounts.js'
import { resetLinkMs } from '../../src/engine/duration.js'
import { isRegressed } from '../../src/engine/factors.js'

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

it.each([
  [0, 0, false],
  [0, 1, false],
  [1, 0, true],
  [5, 5, true],
  [5, 4, true],
  [5, 6, false],
])('a counter of %d that shows %d is a copied authenticator: %s', (stored, shown, is) => {
  expect(isRegressed(stored, shown)).toBe(is)
})

it.each([
  [false, 'unfinished', true],
  [false, 'disabled', true],
  [false, null, false],
  [true, 'unfinished', false],
])(
  'an account, enabled: %s, import %s, is an unfinished import: %s',
  (enabled, importState, is) => {
    expect(isUnfinishedImport({ enabled, importState })).toBe(is)
  },
)

it('a mailed reset link lives for an hour', () => {
  expect(resetLinkMs).toBe(3_600_000)
})

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
  const user = {
    ...seen,
    secretsEpoch: 4,
    selfRegistered: true,
    name: 'Mallory',
    termsVersion: '2026-01',
  }

  it('asks for all that it read, and retires all that was planted', () => {
    const given = { passwordHash: 'a hash', name: '', termsVersion: null, lastIntentId: 'a link' }
    expect(ownerProvedWrite(user, given, 5000)).toEqual({
      guard: { ...seen, emailVerifiedAt: null, enabled: true, kind: '' },
      set: {
        ...{
          emailVerifiedAt: 5000,
          updatedAt: 5000,
          keptSessionId: null,
          keptIntentId: null,
          ...given,
        },
        ...{ passwordChangedAt: 5000, sessionEpoch: 2, credentialEpoch: 21, deviceEpoch: 301 },
        ...{ secretsEpoch: 5, secretsChangedIn: null },
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

const nameText = 'name must be a text, well-formed and without NUL.'
const nameLine =
  'name must be a single line, without control characters and without those of bidirectional text.'
const roleForm =
  'a text of 1 to 100 characters in Unicode form NFC, without blanks around it and without characters that are not seen.'
const role = `systemRole must be ${roleForm}`
const tenants = 'memberships must be an array of { tenantId }, each a text of 1 to 64 characters.'
const bytes = 'memberships must be 4096 bytes at most, written as JSON: access tokens carry them.'

/** As JSON, of exactly this many bytes. */
function membershipsOf(size: number) {
  const around = JSON.stringify({ tenantId: '' }).length + 1
  const count = Math.ceil((size - 1) / (around + 64))
  const letters = size - 1 - count * around
  const lengths = Array.from({ length: count }, (_, index) => Math.floor((letters + index) / count))
  return lengths.map((length) => ({ tenantId: 'x'.repeat(length) }))
}

describe('what a host may say of a user', () => {
  it.each([
    ['nothing', {}],
    ['all of it', { name: 'Ada', enabled: true, emailVerified: false, systemRole: 'editor' }],
    ['an empty name', { name: '' }],
    ['a role of a hundred characters', { systemRole: 'r'.repeat(100) }],
    ['no membership', { memberships: [] }],
    ['a tenant', { memberships: [{ tenantId: 'acme' }] }],
  ])('%s is in order', (_name, given) => {
    expect(userProblem(given)).toBeNull()
  })

  it.each([
    [{ name: 7 }, nameText],
    [{ name: 'a\0' }, nameText],
    [{ name: '\ud800' }, nameText],
    [{ name: 'Ada\nGrace' }, nameLine],
    [{ name: 'Ada\u202e' }, nameLine],
    [{ systemRole: 7 }, role],
    [{ systemRole: 'r'.repeat(101) }, role],
    [{ systemRole: '' }, role],
    [{ systemRole: ' editor' }, role],
    [{ enabled: 'yes' }, 'enabled must be true or false.'],
    [{ emailVerified: 0 }, 'emailVerified must be true or false.'],
    [{ memberships: 'acme' }, tenants],
    [{ memberships: [{ tenantId: '' }] }, tenants],
    [{ memberships: [{ tenantId: 'acme' }, null] }, tenants],
    [{ memberships: [{ tenantId: 'x'.repeat(65) }] }, tenants],
  ])('%j is told', (given, problem) => {
    expect(userProblem(given)).toBe(problem)
  })

  it('has memberships of 4096 bytes, and of no more', () => {
    const fits = membershipsOf(4096)
    expect(JSON.stringify(fits)).toHaveLength(4096)
    expect(userProblem({ memberships: fits })).toBeNull()
    expect(userProblem({ memberships: membershipsOf(4097) })).toBe(bytes)
  })
})

const name = `name must be ${roleForm}`
const list = 'permissions must be an array of at most 200 keys.'
const keys =
  'permissions must be keys of 1 to 100 characters without white space. There are no wildcards: name each key.'
const many = (count: number) => Array.from({ length: count }, (_, index) => `key.${index}`)

describe('the definition of a role', () => {
  it.each([
    ['e', []],
    ['the editor', ['posts.write']],
    ['r'.repeat(100), ['k'.repeat(100)]],
    ['r\u00e9dacteur', []],
    ['\u{20000}'.repeat(100), []],
    ['editor', many(200)],
  ])('%s is in order', (given, permissions) => {
    expect(roleProblem(given, permissions)).toBeNull()
  })

  it.each([
    ['', [], name],
    [' editor', [], name],
    ['editor ', [], name],
    ['r'.repeat(101), [], name],
    [7, [], name],
    ['a\0b', [], name],
    ['a\tb', [], name],
    ['a\u00a0b', [], name],
    ['a\u200bb', [], name],
    ['a\u2028b', [], name],
    ['a\u2029b', [], name],
    ['a\u3164b', [], name],
    ['re\u0301dacteur', [], name],
    ['\ud800', [], name],
    ['editor', 'posts.write', list],
    ['editor', many(201), list],
    ['editor', ['posts.*'], keys],
    ['editor', ['posts write'], keys],
    ['editor', [''], keys],
    ['editor', ['k'.repeat(101)], keys],
    ['editor', ['posts.write', 7], keys],
    ['editor', ['a\0b'], keys],
  ])('%j with %j is told', (given, permissions, problem) => {
    expect(roleProblem(given, permissions)).toBe(problem)
  })
})

it('the roles of people alone are known however they are written', () => {
  const all = ['super_admin', ' Super_Admin ', 'ADMINISTRATOR', 'admin', 'administrators', '']
  expect(all.map(isPeopleOnlyRole)).toEqual([true, true, true, false, false, false])
})

describe('the provider that vouches for an address', () => {
  it.each([
    ['google', 'a@gmail.com', null, true],
    ['google', ' A@GMail.com ', null, true],
    ['google', 'a@company.example', 'company.example', true],
    ['google', 'a@company.example', 'Company.Example', true],
    ['google', 'a@company.example', 'other.example', false],
    ['google', 'a@mail.company.example', 'company.example', false],
    ['google', 'a@company.example', '', false],
    ['google', 'a@company.example', null, false],
    ['google', 'a@notgmail.com', null, false],
    ['google', 'a@gmail.com.example', null, false],
    ['google', 'a@icloud.com', null, false],
    ['microsoft', 'a@company.example', null, true],
    ['apple', 'a@icloud.com', null, true],
    ['apple', 'a@me.com', null, true],
    ['apple', 'a@mac.com', null, true],
    ['apple', 'a@privaterelay.appleid.com', null, true],
    ['apple', 'a@company.example', null, false],
    ['apple', 'a@company.example', 'company.example', false],
    ['github', 'a@company.example', null, false],
    ['github', 'a@gmail.com', null, false],
    ['unknown', 'a@gmail.com', null, false],
    ['__proto__', 'a@gmail.com', null, false],
    ['google', null, 'company.example', false],
    ['google', 'a@', '', false],
  ])('%s of %s in %s: %s', (provider, email, hostedDomain, isVouched) => {
    expect(isVouchedFor({ provider, email, emailVerified: true, hostedDomain })).toBe(isVouched)
    expect(isVouchedFor({ provider, email, emailVerified: false, hostedDomain })).toBe(false)
  })
})
