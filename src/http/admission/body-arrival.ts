import { AuthError, describeError } from '../../errors/index.js'
import type { Logger } from '../../ports/logger.js'
import { receiveBody } from '../request/request-body.js'
import type { AdmissionStep } from './admission.js'

/**
 * Waits for the body, and looks at nothing in it. It stands before the caller is judged: a sender
 * that is slow on purpose must not act on permissions that held when the request began.
 */
export function bodyArrival(logger: Logger): AdmissionStep {
  return {
    async judge(admission) {
      const { request, operation } = admission
      try {
        admission.received = await receiveBody(request, operation)
      } catch (error) {
        // Clients give up every day, which is no error of this process.
        const cause = error instanceof AuthError ? error.cause : error
        logger.debug('a request body broke off', {
          operation: operation.id,
          ...describeError(cause),
        })
        throw error
      }
    },
  }
}
