import { expect } from 'vitest'
import { textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { enrolled, finish, passwordLogin, ticketOf } from '../../support/people/authenticator.js'
import { softwareAuthenticator } from '../../support/people/passkey-authenticator.js'
import { origins, passkeysOn } from '../../support/people/passkey-people.js'

eachSurface.it(
  'an app, its backup codes and a passkey each finish a login, a backup code once',
  async (surface) => {
    const host = await openHost()
    const who = await enrolled(host, surface)
    const byApp = await finish(
      host,
      surface,
      await ticketOf(host, surface, who),
      await who.nextCode(),
    )
    expect([byApp.status, byApp.json()['status']]).toEqual([200, 'authenticated'])

    // Registered with the second factor just shown.
    const authenticator = softwareAuthenticator({ origin: origins[surface] })
    const bearer = textOf(byApp.json(), 'accessToken')
    const given = { bearer, currentPassword: who.password }
    const registered = await passkeysOn(host, surface).register(given, authenticator)
    expect(registered.status, registered.text).toBe(201)
    const first = await passwordLogin(host, surface, who)
    expect(first.json()).toMatchObject({ status: 'mfaRequired' })
    expect(first.json()['methods']).toEqual(
      expect.arrayContaining(['totp', 'webauthn', 'backupCode']),
    )
    const mfaToken = textOf(first.json(), 'mfaToken')
    const byPasskey = await passkeysOn(host, surface).login(authenticator, mfaToken)
    expect([byPasskey.status, byPasskey.json()['status']]).toEqual([200, 'authenticated'])

    const [code = ''] = who.backupCodes
    const byCode = async () =>
      finish(host, surface, await ticketOf(host, surface, who), code, 'backupCode')
    expect(outcomeOf(await byCode())).toBe('200')
    expect(outcomeOf(await byCode())).toBe('401 invalid_mfa_code')
    const kept = JSON.stringify(await storedIn(host, surface).backupCodes.get(who.id))
    for (const shown of who.backupCodes) expect(kept).not.toContain(shown)
  },
)
