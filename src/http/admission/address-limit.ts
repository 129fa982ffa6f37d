import type { RateLimitName, Services } from '../../domain/services/index.js'
import { settingsFor } from '../../engine/surface-settings.js'
import type { RateClass } from '../../operations/operation.js'
import type { Surface } from '../../ports/surface.js'
import type { AdmissionStep } from './admission.js'

/** The classes that are counted by address; `login` too, by a live setting. */
const perIp: Partial<Record<RateClass, RateLimitName>> = {
  register: 'registerPerIp',
  recovery: 'recoveryPerIp',
  refresh: 'refreshPerIp',
  oauth: 'oauthPerIp',
  grant: 'grantPerIp',
}

/** Whether the address may ask once more; counted before anything else is looked at. */
export function addressLimit(
  surface: Surface,
  { limits, settings }: Pick<Services, 'limits' | 'settings'>,
): AdmissionStep<number | null> {
  return {
    /** The live rate of logins; null where the rate is fixed. */
    async read({ operation }) {
      return operation.limit === 'login' ? settingsFor(surface, await settings()).loginRate : null
    },
    async judge({ operation, address }, loginRate) {
      if (loginRate !== null) {
        await limits.checkWith('loginPerIp', address, { limit: loginRate, windowMs: 60_000 })
      }
      const name = perIp[operation.limit]
      if (name !== undefined) await limits.check(name, address)
    },
  }
}
