import type { RateLimitName, Services } from '../../domain/services/index.js'
import type { RateClass } from '../../operations/operation.js'
import type { AdmissionStep } from './admission.js'

/** The classes that are counted by account. */
const perUser: Partial<Record<RateClass, RateLimitName>> = {
  self: 'selfPerUser',
  mfa: 'mfaPerUser',
  admin: 'adminPerUser',
}

/** Whether the account may ask once more, or the address where no account is known. */
export function userLimit({ limits }: Pick<Services, 'limits'>): AdmissionStep {
  return {
    async judge({ operation, userId, address }) {
      const name = perUser[operation.limit]
      if (name !== undefined) await limits.check(name, userId ?? address)
    },
  }
}
