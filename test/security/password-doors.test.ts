import { describe, expect, it } from 'vitest'
import type { Surface } from '../../src/ports/surface.js'
import { memberOf, oauthHost } from '../contract/oauth/oauth-host.js'
import { type SettingsHost, settingsHost } from '../contract/settings/settings-host.js'
import { textOf } from '../support/hosts/http-client.js'
import { eachSurface } from '../support/hosts/matrix.js'
import { outcomeOf, storedIn } from '../support/hosts/open-host.js'
import {
  codeOf,
  enrolled,
  finish,
  passwordLogin,
  ticketOf,
} from '../support/people/authenticator.js'
import { goodPassword, otherPassword, person } from '../support/people/people.js'
import { linkFor, reset } from '../support/people/recovery-steps.js'

const switchOf = {
  operator: { passwords: 'passwordLoginOperatorEnabled', google: 'googleOperatorEnabled' },
  client: { passwords: 'passwordLoginClientEnabled', google: 'googleClientEnabled' },
} as const

function switchPasswords(host: SettingsHost, surface: Surface, on: boolean): Promise<void> {
  const { passwords, google } = switchOf[surface]
  const provider = { googleClientId: 'client', googleClientSecret: 'planted-google-secret' }
  return host.set({ config: { ...provider, [google]: 'true', [passwords]: String(on) } })
}

/** Whoever administers an operator surface signs in by password: these are asked on the client's. */
const off = (host: SettingsHost) => switchPasswords(host, 'client', false)

describe('the doors of passwords, once signing in with one is switched off', () => {
  const post = (host: SettingsHost, path: string, body: object) =>
    host.send('POST', `/v1/auth/client${path}`, { body })

  it.each([true, false])(
    'no registration, with a confirmed address asked for: %s',
    async (asked) => {
      const host = await settingsHost({ settings: { emailVerificationRequired: asked } })
      await off(host)
      const reply = await post(host, '/register', {
        email: 'ada@example.org',
        password: goodPassword,
      })
      expect(outcomeOf(reply)).toBe('403 password_login_disabled')
      expect(await storedIn(host, 'client').users.find({ kind: '' }, { limit: 9 })).toEqual([])
    },
  )

  it('no recovery: neither asking for a link nor using one', async () => {
    const host = await settingsHost()
    const { email } = await person(host, 'client')
    const token = await linkFor(host, 'client', email)
    await off(host)
    expect(outcomeOf(await post(host, '/password/forgot', { email }))).toBe(
      '403 password_login_disabled',
    )
    const used = await reset(host, 'client', token, otherPassword)
    expect(outcomeOf(used)).toBe('403 password_login_disabled')
    await switchPasswords(host, 'client', true)
    expect(outcomeOf(await reset(host, 'client', token, otherPassword))).toBe('204')
  })

  it('no second half of a login whose first factor was a password', async () => {
    const host = await settingsHost()
    const who = await enrolled(host, 'client')
    const mfaToken = await ticketOf(host, 'client', who)
    const code = await who.nextCode()
    await off(host)
    const late = await finish(host, 'client', mfaToken, code)
    expect(outcomeOf(late)).toBe('401 mfa_ticket_invalid')
    await switchPasswords(host, 'client', true)
    const again = await finish(host, 'client', mfaToken, await who.nextCode())
    expect(outcomeOf(again)).toBe('200')
  })

  it('no enrolment on the way in, where a password was the first factor', async () => {
    const host = await settingsHost({ settings: { mfaPolicyClient: 'required' } })
    const first = await passwordLogin(host, 'client', await person(host, 'client'))
    const mfaToken = textOf(first.json(), 'mfaToken')
    const begun = await post(host, '/mfa/totp', { mfaToken })
    const code = codeOf(host, textOf(begun.json(), 'secret'))
    await off(host)
    const late = await post(host, '/mfa/totp/confirm', { mfaToken, code })
    expect(outcomeOf(late)).toBe('401 mfa_ticket_invalid')
    expect(outcomeOf(await post(host, '/mfa/totp', { mfaToken }))).toBe('401 mfa_ticket_invalid')
  })
})

eachSurface.describe('a surface of providers alone', (surface) => {
  it('an anonymous registration shuts no address out of its provider', async () => {
    const host = await oauthHost({ settings: { [switchOf[surface].passwords]: false } })
    const email = 'ada@example.org'
    const planted = await host.send('POST', `/v1/auth/${surface}/register`, {
      body: { email, password: goodPassword },
    })
    expect(outcomeOf(planted)).toBe('403 password_login_disabled')
    const reply = await host.signIn(surface, 'google', { subject: '7', email, verified: true })
    expect([memberOf(reply, 'error'), reply.setCookies.length > 0]).toEqual(['', true])
  })
})
