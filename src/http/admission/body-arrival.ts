import { receiveBody } from '../request/request-body.js'
import type { AdmissionStep } from './admission.js'

/**
 * Waits for the body, and looks at nothing in it. It stands before the caller is judged: a sender
 * that is slow on purpose must not act on permissions that held when the request began.
 */
export const bodyArrival: AdmissionStep = {
  async judge(admission) {
    admission.received = await receiveBody(admission.request, admission.operation)
  },
}
