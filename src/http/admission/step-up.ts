import type { Services } from '../../domain/services/index.js'
import type { AdmissionStep } from './admission.js'

/** Whether the session showed a second factor recently enough. */
export function stepUp({
  stepUp: proofs,
  settings,
  adminStepUp,
}: Pick<Services, 'stepUp' | 'settings' | 'adminStepUp'>): AdmissionStep<number | null> {
  return {
    /** How old the proof may be, in milliseconds; null where none is asked for. */
    async read({ operation, principal }) {
      const guard = operation.guards.find(({ kind }) => kind === 'stepUp')
      if (principal === null || guard?.kind !== 'stepUp') return null
      // A service account can show no factor: the operator who got its secret was asked for one.
      const isAsked = guard.where === undefined || (adminStepUp && principal.kind === '')
      if (!isAsked) return null
      return guard.maxAgeMs ?? (await settings()).stepUpMaxAge
    },
    async judge({ principal }, maxAgeMs) {
      if (principal !== null && maxAgeMs !== null) await proofs.require(principal, maxAgeMs)
    },
  }
}
