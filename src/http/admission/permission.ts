import type { Services } from '../../domain/services/index.js'
import type { AdmissionStep } from './admission.js'

/** Whether the authorizer allows it; the account's record is read for that. */
export function permission({ access }: Pick<Services, 'access'>): AdmissionStep {
  return {
    async judge(admission) {
      const { operation, principal, readAhead } = admission
      if (principal === null) return
      const guard = operation.guards.find(({ kind }) => kind === 'permission')
      // Without a permission every signed-in account could call the operation; none is meant to be so.
      if (guard?.kind !== 'permission') throw new Error(`${operation.id} names no permission`)
      admission.user = await access.permit(principal, guard.key, undefined, readAhead?.user)
    },
  }
}
