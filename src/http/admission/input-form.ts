import { AuthError } from '../../errors/index.js'
import { readBody } from '../request/request-body.js'
import { readQuery } from '../request/request-query.js'
import type { AdmissionStep } from './admission.js'

/** Whether query and body have the form that the operation declares. */
export const inputForm: AdmissionStep = {
  judge(admission) {
    const { operation, request, received } = admission
    if (operation.oauth2) refuseCredentials(request.query)
    const query = readQuery(request, operation)
    const body = readBody(request, operation, received ?? { kind: 'empty' })
    admission.input = { query, body }
  },
}

const credentials = ['client_id', 'client_secret', 'client_assertion']

/** A query is written to logs: what authenticates a client must not be in one (RFC 6749 §2.3.1). */
function refuseCredentials(query: string): void {
  const named = new URLSearchParams(query)
  if (!credentials.some((name) => named.has(name))) return
  throw new AuthError('invalid_request', { detail: 'Credentials do not belong into the query.' })
}
