import type { RateLimitName, Services } from '../domain/services/index.js'
import { settingsFor } from '../engine/surface-settings.js'
import type { RateClass } from '../operations/operation.js'
import type { Surface } from '../ports/surface.js'

/** Each class is counted by address, or by user once the user is known; `login` by a live setting. */
const perIp: Partial<Record<RateClass, RateLimitName>> = {
  register: 'registerPerIp',
  recovery: 'recoveryPerIp',
  refresh: 'refreshPerIp',
  oauth: 'oauthPerIp',
  grant: 'grantPerIp',
}
const perUser: Partial<Record<RateClass, RateLimitName>> = {
  self: 'selfPerUser',
  mfa: 'mfaPerUser',
  admin: 'adminPerUser',
}

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
    return
  }
  const name = perIp[rateClass]
  if (name !== undefined) await limits.check(name, subject)
}

/** Counts a request of somebody known, after the token was judged. */
export async function limitByUser(
  rateClass: RateClass,
  subject: string,
  services: Services,
): Promise<void> {
  const name = perUser[rateClass]
  if (name !== undefined) await services.limits.check(name, subject)
}
