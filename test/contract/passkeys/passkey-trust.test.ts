import { expect, it } from 'vitest'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { ticketOf } from '../../support/people/authenticator.js'
import { passkeyHolder, passkeysOn } from '../../support/people/passkey-people.js'
import { deviceCookieOf, trusting } from '../../support/people/trusted-device.js'

type Holder = Awaited<ReturnType<typeof passkeyHolder>>

eachSurface.describe('a device trusted at a login with a passkey', (surface) => {
  /** The second half of a login, with the device to be trusted. */
  async function trust(host: ContractHost, who: Holder, mfaToken?: string) {
    const { challengeId, options } = await passkeysOn(host, surface).begunLogin(mfaToken)
    const response = who.authenticator.get(options)
    const ticket = mfaToken === undefined ? {} : { mfaToken }
    const body = { challengeId, response, trustDevice: true, ...ticket }
    return host.send('POST', `/v1/auth/${surface}/webauthn/login/verify`, { body })
  }

  const devicesOf = (host: ContractHost, userId: string) =>
    storedIn(host, surface).trustedDevices.find({ userId }, { limit: 9 })

  it('skips the second factor of the next login', async () => {
    const host = await openHost(trusting)
    const who = await passkeyHolder(host, surface)
    const done = await trust(host, who, await ticketOf(host, surface, who))
    expect(outcomeOf(done)).toBe('200')
    const { email, password } = who
    const login = await host.send('POST', `/v1/auth/${surface}/login`, {
      body: { email, password },
      cookie: deviceCookieOf(done, surface),
    })
    expect(login.json()['status']).toBe('authenticated')
  })

  it('is refused where no device is trusted, and the ticket is as good as before', async () => {
    const off = { trustedDeviceOperatorEnabled: false, trustedDeviceClientEnabled: false }
    const host = await openHost({ settings: off })
    const who = await passkeyHolder(host, surface)
    const mfaToken = await ticketOf(host, surface, who)
    expect(outcomeOf(await trust(host, who, mfaToken))).toBe('403 mfa_method_disabled')
    expect(await devicesOf(host, who.id)).toEqual([])
    const login = await passkeysOn(host, surface).login(who.authenticator, mfaToken)
    expect(outcomeOf(login)).toBe('200')
  })

  it('is refused where the passkey stands for both factors: none is skipped later', async () => {
    const settings = { ...trusting.settings, webauthnMode: 'passwordless' } as const
    const host = await openHost({ settings })
    const who = await passkeyHolder(host, surface)
    const refused = await trust(host, who)
    expect(outcomeOf(refused)).toBe('400 invalid_request')
    expect([refused.setCookies, await devicesOf(host, who.id)]).toEqual([[], []])
  })
})
