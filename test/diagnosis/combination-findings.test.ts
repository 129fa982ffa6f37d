import { expect, it } from 'vitest'
import { combinationFindings } from '../../src/diagnosis/settings-findings.js'

const both = ['operator', 'client'] as const
const rule = (surface: string) => ({
  'registrationAllowedDomains.__items': 'ours',
  'registrationAllowedDomains.ours.domain': 'example.org',
  'registrationAllowedDomains.ours.surface': surface,
})
const unproved = { ...rule('both'), emailVerificationRequired: 'false' }
const problemsOf = (values: Readonly<Record<string, string>>) =>
  combinationFindings(values, both, false).map(({ problem }) => problem)

it.each([
  ['nothing stored', {}],
  ['every domain allowed', { emailVerificationRequired: 'false' }],
  ['mailboxes proved', rule('both')],
  ['a factor required, which implies it', { ...unproved, mfaPolicyClient: 'required' }],
  ['no registration', { ...unproved, registrationClientEnabled: 'false' }],
  [
    'no password on the surface that is open',
    { ...unproved, passwordLoginClientEnabled: 'false', webauthnMode: 'passwordless' },
  ],
  ['a rule of the surface that is closed', { ...unproved, ...rule('operator') }],
])('says nothing of allowed domains with %s', (_what, values) => {
  expect(problemsOf(values)).toEqual([])
})

it('says on which surfaces an allowed domain is no proof', () => {
  const open = { ...unproved, registrationOperatorEnabled: 'true' }
  expect(problemsOf(open)).toEqual([
    expect.stringContaining('on the operator and the client surface: "emailVerificationRequired"'),
  ])
  expect(problemsOf({ ...open, ...rule('operator') })).toEqual([
    expect.stringContaining('on the operator surface:'),
  ])
})

it('counts adminStepUp as a demand of a second factor', () => {
  const off = { totpEnabled: 'false', webauthnMode: 'off' }
  expect(combinationFindings(off, both, false)).toEqual([])
  expect(combinationFindings(off, both, true)).toEqual([
    expect.objectContaining({ problem: expect.stringContaining('(adminStepUp)') }),
  ])
})
