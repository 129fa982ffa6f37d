import type { Surface } from '../../../src/ports/surface.js'
import { enrolled, ticketOf } from '../../support/people/authenticator.js'
import {
  comesTo,
  deviceLogin,
  finishTrusting,
  type Trusting,
  trustingPerson,
} from '../../support/people/trusted-device.js'
import type { Effect, Effects } from './effect.js'
import type { SettingsHost } from './settings-host.js'

const day = 86_400_000

/** Who trusted a device on this host while that was allowed. */
const early = new WeakMap<SettingsHost, Trusting>()

async function mayTrust(host: SettingsHost, surface: Surface): Promise<unknown> {
  const who = await enrolled(host, surface)
  const mfaToken = await ticketOf(host, surface, who)
  return comesTo(await finishTrusting(host, surface, mfaToken, await who.nextCode()))
}

const enabled: Effect = {
  when: [
    ['true', 'authenticated, authenticated'],
    ['false', '403 mfa_method_disabled, mfaRequired'],
  ],
  async see(host, surface) {
    const asked = String(await mayTrust(host, surface))
    const isAllowed = asked === 'authenticated'
    const who = early.get(host) ?? (isAllowed ? await trustingPerson(host, surface) : null)
    if (who === null) return asked
    early.set(host, who)
    return `${asked}, ${comesTo(await deviceLogin(host, surface, who, who.deviceToken, 'login'))}`
  },
}

/** Trusted devices, of the group MFA. */
export const deviceEffects: Effects = {
  trustedDeviceOperatorEnabled: enabled,
  trustedDeviceClientEnabled: enabled,
  trustedDeviceTTL: {
    when: [
      ['1d', 'mfaRequired'],
      ['3d', 'authenticated'],
    ],
    async see(host, surface) {
      await host.set({ config: { trustedDeviceOperatorEnabled: 'true' } })
      const who = await trustingPerson(host, surface)
      await host.auth.close()
      await host.clock.advance(day)
      return String(comesTo(await deviceLogin(host, surface, who, who.deviceToken, 'login')))
    },
  },
}
