import type { Services, SessionLimitName } from '../../domain/services/index.js'
import type { SessionClass } from '../../operations/operation.js'
import type { AdmissionStep } from './admission.js'

const perSession: Readonly<Record<SessionClass, SessionLimitName>> = {
  self: 'selfPerSession',
  change: 'changePerSession',
  ending: 'endingPerSession',
  mfa: 'mfaPerSession',
  admin: 'adminPerSession',
}

/** Whether the session may ask once more, and its account with all its sessions together. */
export function sessionLimit({ limits }: Pick<Services, 'limits'>): AdmissionStep {
  return {
    async judge({ operation, principal }) {
      if (operation.access === 'public' || principal === null) return
      await limits.checkSession(perSession[operation.limit], principal)
    },
  }
}
