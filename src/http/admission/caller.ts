import type { AccessClaims, Principal, Services } from '../../domain/services/index.js'
import type { AdmissionStep } from './admission.js'

interface Caller {
  readonly bearer: AccessClaims | null
  readonly principal: Principal | null
}

/**
 * The account that the access token speaks for. A public operation asks for no token, and still
 * refuses one of the other surface; an enrolling one takes a ticket in its place.
 */
export function caller({ access }: Pick<Services, 'access'>): AdmissionStep<Caller> {
  return {
    async read({ operation, request }) {
      const authorization = request.header('authorization')
      if (operation.access === 'public') {
        const isIgnored = operation.bearer === 'ignored'
        const bearer = await access.peek(isIgnored ? undefined : authorization)
        return { bearer, principal: null }
      }
      if (operation.access === 'enrolling' && authorization === undefined) {
        return { bearer: null, principal: null }
      }
      const principal = await access.authenticate(authorization)
      return { bearer: principal.claims, principal }
    },
    judge(admission, { bearer, principal }) {
      admission.bearer = bearer
      admission.principal = principal
      admission.userId = principal?.userId ?? bearer?.sub ?? null
    },
  }
}
