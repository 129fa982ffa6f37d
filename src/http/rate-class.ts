import type { Services } from '../domain/services.js'
import { settingsFor } from '../engine/surface-settings.js'
import type { RateClass } from '../operations/operation.js'
import type { Surface } from '../ports/surface.js'

const perIp = {
  register: 'registerPerIp',
  recovery: 'recoveryPerIp',
  refresh: 'refreshPerIp',
  oauth: 'oauthPerIp',
} as const

/** Counts a request before anything else is looked at; throws `rate_limited`. */
export async function limitByAddress(
  rateClass: RateClass,
  subject: string,
  surface: Surface,
  services: Services,
): Promise<void> {
  const { limits } = services
  if (rateClass === 'login') {
    const { loginRate } = settingsFor(surface, await services.settings())
    await limits.checkWith('loginPerIp', subject, { limit: loginRate, windowMs: 60_000 })
  } else if (rateClass !== 'self' && rateClass !== 'admin') {
    await limits.check(perIp[rateClass], subject)
  }
}

/** Counts a request of somebody known, after the token was judged. */
export async function limitByUser(
  rateClass: RateClass,
  subject: string,
  services: Services,
): Promise<void> {
  if (rateClass === 'self') await services.limits.check('selfPerUser', subject)
  if (rateClass === 'admin') await services.limits.check('adminPerUser', subject)
}
