import type { Services } from '../../domain/services/index.js'
import type { Operation } from '../../operations/operation.js'
import type { AdmissionStep } from './admission.js'

/** Whether the authorizer allows it; the account's record is read for that. */
export function permission({ access }: Pick<Services, 'access'>): AdmissionStep {
  return {
    async judge(admission) {
      const { operation, principal, readAhead } = admission
      if (principal === null) return
      const key = permissionOf(operation)
      admission.user = await access.permit(principal, key, undefined, readAhead?.user)
    },
  }
}

/** Throws where the guards name none: every signed-in account could call such an operation. */
export function permissionOf({ id, guards }: Operation): string {
  const guard = guards.find(({ kind }) => kind === 'permission')
  if (guard?.kind !== 'permission') throw new Error(`${id} names no permission`)
  return guard.key
}
