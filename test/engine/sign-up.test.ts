import { describe, expect, it } from 'vitest'
import { signUpRefusal } from '../../src/engine/sign-up.js'

const open = { registrationEnabled: true, allowedDomains: [], requiredTerms: '' }
const ada = { email: 'ada@example.org', acceptedTerms: '' }
const own = [{ domain: 'example.org', includeSubdomains: false }]

describe('who may sign up by a provider', () => {
  it.each([
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
  ])('S-01 S-02 S-03 S-04 T-89 %s', (_who, rules, signUp, refusal) => {
    expect(signUpRefusal({ ...open, ...rules }, { ...ada, ...signUp })).toBe(refusal)
  })
})
