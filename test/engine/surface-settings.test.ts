import { expect, it, test } from 'vitest'
import {
  acceptedAudiences,
  type SettingsOfBoth,
  settingsFor,
} from '../../src/engine/surface-settings.js'

const rule = (domain: string, surface: 'operator' | 'client' | 'both') => ({
  ...{ domain, includeSubdomains: false, surface },
})
const rules = [rule('a.org', 'operator'), rule('b.org', 'client'), rule('c.org', 'both')]

const settings: SettingsOfBoth = {
  registrationOperatorEnabled: true,
  registrationClientEnabled: false,
  passwordLoginOperatorEnabled: false,
  passwordLoginClientEnabled: true,
  loginRateOperator: 5,
  loginRateClient: 9,
  registrationAllowedDomains: rules,
  mfaPolicyOperator: 'required',
  mfaPolicyClient: 'optional',
  trustedDeviceOperatorEnabled: false,
  trustedDeviceClientEnabled: true,
  accountDeletionMode: 'client',
}

it('each surface has its own of the settings that exist twice', () => {
  expect(settingsFor('operator', settings)).toEqual({
    ...{ registrationEnabled: true, passwordLoginEnabled: false, loginRate: 5 },
    ...{ allowedDomains: [rules[0], rules[2]], mfaPolicy: 'required' },
    ...{ trustedDeviceEnabled: false, accountDeletionEnabled: false },
  })
  expect(settingsFor('client', settings)).toEqual({
    ...{ registrationEnabled: false, passwordLoginEnabled: true, loginRate: 9 },
    ...{ allowedDomains: [rules[1], rules[2]], mfaPolicy: 'optional' },
    ...{ trustedDeviceEnabled: true, accountDeletionEnabled: true },
  })
})

it.each([
  ['off', false, false],
  ['client', false, true],
  ['both', true, true],
] as const)('people delete their own account by the mode %s', (accountDeletionMode, ...may) => {
  const given = { ...settings, accountDeletionMode }
  const surfaces = ['operator', 'client'] as const
  const all = surfaces.map((one) => settingsFor(one, given).accountDeletionEnabled)
  expect(all).toEqual(may)
})

test('the operator surface accepts operator and service', () => {
  expect(acceptedAudiences.operator).toEqual(['operator', 'service'])
})

test('the client surface accepts client only', () => {
  expect(acceptedAudiences.client).toEqual(['client'])
})
