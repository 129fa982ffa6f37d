import type { Services } from '../../domain/services/index.js'
import type { AdmissionStep } from './admission.js'

/** Whether the caller is a person with a session; most of administration is open to machines as well. */
export function humanSession({ access }: Pick<Services, 'access'>): AdmissionStep {
  return {
    judge(admission) {
      const { operation, principal } = admission
      const isForMachines = operation.guards.some(({ kind }) => kind === 'principal')
      if (principal === null || isForMachines) return
      admission.sessionId = access.requireHuman(principal).sessionId
    },
  }
}
