import { readBody } from '../request/request-body.js'
import { readQuery } from '../request/request-query.js'
import type { AdmissionStep } from './admission.js'

/** Whether query and body have the form that the operation declares. */
export const inputForm: AdmissionStep = {
  judge(admission) {
    const { operation, request, received } = admission
    const query = readQuery(request, operation)
    const body = readBody(request, operation, received ?? { kind: 'empty' })
    admission.input = { query, body }
  },
}
