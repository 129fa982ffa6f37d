import type { AccessClaims, Principal, Services } from '../../domain/services/index.js'
import type { Operation } from '../../operations/operation.js'
import type { AdmissionStep, ReadAhead } from './admission.js'

interface Caller {
  readonly bearer: AccessClaims | null
  readonly principal: Principal | null
  readonly readAhead: ReadAhead | null
}

/**
 * The account that the access token speaks for. A public operation asks for no token, and still
 * refuses one of the other surface; an enrolling one takes a ticket in its place. Its record is read
 * beside the denylist, and judged where the permission is.
 */
export function caller(services: Services): AdmissionStep<Caller> {
  const { access } = services

  /** All that is known to be needed of an account once its token is genuine. */
  function readAhead(operation: Operation, userId: string): ReadAhead {
    const user = access.readUser(userId)
    const own = (operation.access === 'guarded' && operation.readAhead?.(userId, services)) || null
    // Its failure counts where the operation asks for it.
    own?.catch(() => {})
    return { user, own }
  }

  return {
    async read({ operation, request }) {
      const authorization = request.header('authorization')
      if (operation.access === 'public') {
        const isIgnored = operation.bearer === 'ignored'
        const bearer = await access.peek(isIgnored ? undefined : authorization)
        return { bearer, principal: null, readAhead: null }
      }
      if (operation.access === 'enrolling' && authorization === undefined) {
        return { bearer: null, principal: null, readAhead: null }
      }
      const { principal, beside } = await access.authenticateBeside(authorization, (userId) =>
        readAhead(operation, userId),
      )
      return { bearer: principal.claims, principal, readAhead: beside }
    },
    judge(admission, { bearer, principal, readAhead: begun }) {
      admission.readAhead = begun
      admission.bearer = bearer
      admission.principal = principal
      admission.userId = principal?.userId ?? bearer?.sub ?? null
    },
  }
}
