import { AuthError } from '../../errors/index.js'
import { isNavigation, isOriginAllowed } from '../request/origin.js'
import type { AdmissionStep } from './admission.js'

/** Whether a request that a cookie authenticates comes from a page that may send it. */
export function originCheck(allowedOrigins: ReadonlySet<string>): AdmissionStep {
  return {
    judge({ operation, request }) {
      const guard = operation.guards.find(({ kind }) => kind === 'origin')
      if (guard?.kind !== 'origin') return
      if (guard.navigation && isNavigation(request)) return
      const headers = {
        origin: request.header('origin'),
        secFetchSite: request.header('sec-fetch-site'),
      }
      if (!isOriginAllowed(headers, allowedOrigins)) throw new AuthError('csrf_rejected')
    },
  }
}
