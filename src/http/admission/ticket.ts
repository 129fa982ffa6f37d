import { AuthError } from '../../errors/index.js'
import type { AdmissionStep } from './admission.js'

/**
 * Whether an enrolling request without an access token names a ticket. The handler finds out whose
 * it is and what it is good for.
 */
export const ticket: AdmissionStep = {
  judge(admission) {
    const { operation, principal, input } = admission
    if (operation.access !== 'enrolling' || principal !== null) return
    admission.ticket = ticketIn(input?.body)
    if (admission.ticket === null) throw new AuthError('unauthorized')
  },
}

/** The schema of each such operation has the member, or lets it be absent. */
function ticketIn(body: unknown): string | null {
  const named = typeof body === 'object' && body !== null && 'mfaToken' in body
  return named && typeof body.mfaToken === 'string' ? body.mfaToken : null
}
