import { describe, expect, it } from 'vitest'
import { expectProblem } from '../../support/hosts/expectations.js'
import { textOf } from '../../support/hosts/http-client.js'
import { outcomeOf } from '../../support/hosts/open-host.js'
import { softwareAuthenticator } from '../../support/people/passkey-authenticator.js'
import { origins, passkeyHolder, passkeysOn } from '../../support/people/passkey-people.js'
import { goodPassword, person } from '../../support/people/people.js'
import { settingsHost } from '../settings/settings-host.js'

const surface = 'client'
const at = (path: string): string => `/v1/auth/${surface}${path}`

/** People enrolled while passwords were on; from now on passkeys are the only way in. */
async function passkeysAlone() {
  const host = await settingsHost({ mailedCode: false })
  const who = await passkeyHolder(host, surface)
  const without = await person(host, surface)
  const off = { passwordLoginClientEnabled: 'false', webauthnMode: 'passwordless' }
  await host.set({ config: off })
  return { host, who, without, on: passkeysOn(host, surface) }
}

describe('a surface with passkeys alone', () => {
  it('lets in whoever has one, and shuts every door of passwords', async () => {
    const { host, who, without, on } = await passkeysAlone()
    expect((await on.login(who.authenticator)).json()['status']).toBe('authenticated')
    const { email, password } = without
    const refused = [
      await host.send('POST', at('/login'), { body: { email, password } }),
      await host.send('POST', at('/register'), {
        body: { email: 'new@example.org', password: goodPassword },
      }),
      await host.send('POST', at('/password/forgot'), { body: { email } }),
    ]
    expect(refused.map(outcomeOf)).toEqual(refused.map(() => '403 password_login_disabled'))
  })

  it('keeps the last passkey, which is the last way in, and takes one of two', async () => {
    const { who, on } = await passkeysAlone()
    const bearer = textOf((await on.login(who.authenticator)).json(), 'accessToken')
    await on.stepUp(bearer, who.authenticator)
    expectProblem(await on.remove(bearer, who.credentialId), 409, 'last_login_method')
    const another = softwareAuthenticator({ origin: origins[surface] })
    const made = await on.register({ bearer }, another)
    await on.stepUp(bearer, another)
    expect(outcomeOf(await on.remove(bearer, who.credentialId))).toBe('204')
    await on.stepUp(bearer, another)
    const left = textOf(made.json(), 'credentialId')
    expectProblem(await on.remove(bearer, left), 409, 'last_login_method')
    expect((await on.login(another)).json()['status']).toBe('authenticated')
    expect(outcomeOf(await on.login(who.authenticator))).toBe('401 invalid_credentials')
  })

  it('a person without one comes in by the password while passwords are on again', async () => {
    const { host, without, on } = await passkeysAlone()
    const { email, password } = without
    const login = () => host.send('POST', at('/login'), { body: { email, password } })
    expectProblem(await login(), 403, 'password_login_disabled')
    const required = { mfaPolicyClient: 'required', totpEnabled: 'false' }
    await host.set({ config: { ...required, passwordLoginClientEnabled: 'true' } })
    const begun = (await login()).json()
    expect(begun['status']).toBe('mfaEnrollmentRequired')
    const authenticator = softwareAuthenticator({ origin: origins[surface] })
    const done = await on.register({ mfaToken: textOf(begun, 'mfaToken') }, authenticator)
    expect(done.status).toBe(201)
    await host.set({ config: { passwordLoginClientEnabled: 'false' } })
    expect((await on.login(authenticator)).json()['status']).toBe('authenticated')
  })
})
