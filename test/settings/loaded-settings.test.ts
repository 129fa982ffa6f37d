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

it('a surface that first values left without a login method is warned of', () => {
  const off = { passwordLoginOperatorEnabled: 'false' }
  expect(warningsOf(off)).toEqual([
    'The operator surface has no login method. Keep "passwordLoginOperatorEnabled" on, enable a provider, or set "webauthnMode" to "passwordless".',
  ])
  expect(warningsOf({ ...off, webauthnMode: 'passwordless' })).toEqual([])
  const google = {
    googleOperatorEnabled: 'true',
    googleClientId: 'g-id',
    googleClientSecret: 'g-secret',
  }
  expect(warningsOf({ ...off, ...google })).toEqual([])
})

it('a credential that does not decrypt is not one that lacks', () => {
  const given = { googleClientEnabled: 'true', googleClientId: 'g-id' }
  expect(warningsOf(given, ['googleClientSecret'])).toEqual([
    'Setting "googleClientSecret" cannot be decrypted. Set it again, or give back its key.',
  ])
})

it('a short signing secret of an earlier version is warned of by its webhook', () => {
  const webhook = (slug: string, signingSecret: string) => ({
    [`securityWebhooks.${slug}.label`]: slug,
    [`securityWebhooks.${slug}.url`]: 'https://siem.example.com/postern',
    [`securityWebhooks.${slug}.events`]: 'all',
    [`securityWebhooks.${slug}.signingSecret`]: signingSecret,
  })
  const of = (...webhooks: readonly Record<string, string>[]) => ({
    'securityWebhooks.__items': webhooks.map((_, n) => `w${n}`).join(','),
    ...Object.assign({}, ...webhooks),
  })
  expect(warningsOf(of(webhook('w0', 'x'.repeat(32))))).toEqual([])
  expect(warningsOf(of(webhook('w0', 'x'.repeat(31)), webhook('w1', 'y'.repeat(40))))).toEqual([
    expect.stringMatching(/^The signing secret of the webhook "w0" has fewer than 32 characters/),
  ])
  const unreadable = warningsOf(of(webhook('w0', '')), ['securityWebhooks.w0.signingSecret'])
  expect(unreadable).toEqual([expect.stringMatching(/cannot be decrypted/)])
})
