import type { Services } from '../../domain/services/index.js'
import type { AdmissionStep } from './admission.js'

/** Whether there is what the path of an administrative operation names. */
export function target(services: Services): AdmissionStep {
  return {
    read: async ({ operation, params }) =>
      operation.access === 'admin' ? operation.locate(params, services) : null,
    judge(admission, located) {
      admission.located = located
    },
  }
}
