import { expect, it } from 'vitest'
import { loadedSettings } from '../../src/settings/loaded-settings.js'

const warningsOf = (values: Readonly<Record<string, string>>, unreadable: string[] = []) =>
  loadedSettings({ values, unreadable }, {}, () => {
    throw new Error('read')
  }).warnings

it('an enabled provider that first values left without credentials is warned of by what it lacks', () => {
  const given = { googleClientEnabled: 'true', googleClientId: 'g-id' }
  expect(warningsOf(given)).toEqual([
    'A provider cannot be used: "googleClientSecret" must be set while Google is enabled. Set it, or disable Google.',
  ])
  expect(warningsOf({ ...given, googleClientSecret: 'g-secret' })).toEqual([])
  expect(warningsOf({})).toEqual([])
})

it('T-73 a credential that does not decrypt is not one that lacks', () => {
  const given = { googleClientEnabled: 'true', googleClientId: 'g-id' }
  expect(warningsOf(given, ['googleClientSecret'])).toEqual([
    'Setting "googleClientSecret" cannot be decrypted. Set it anew, or give back its key.',
  ])
})
