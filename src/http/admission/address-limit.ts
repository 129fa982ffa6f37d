import type { AddressLimitName, Services } from '../../domain/services/index.js'
import { settingsFor } from '../../engine/surface-settings.js'
import type { AddressClass } from '../../operations/operation.js'
import type { Surface } from '../../ports/surface.js'
import type { Admission, AdmissionStep } from './admission.js'

/**
 * The limit of each class. Logins have a live setting. A logout is counted by its service, and only
 * where no credential in it verifies: an owner must get out whatever other callers at their address do.
 */
const perIp: Readonly<Record<AddressClass, AddressLimitName | null>> = {
  register: 'registerPerIp',
  login: null,
  recovery: 'recoveryPerIp',
  confirm: 'confirmPerIp',
  refresh: 'refreshPerIp',
  oauth: 'oauthPerIp',
  mfa: 'mfaPerIp',
  grant: 'grantPerIp',
  jwks: 'jwksPerIp',
  options: 'optionsPerIp',
  logout: null,
}

/** Whether a request brings a refresh cookie that is not empty. */
export type HasRefreshCookie = (request: Admission['request']) => boolean

/** Whether the address may ask once more; counted before anything else is looked at. */
export function addressLimit(
  surface: Surface,
  { limits, settings }: Pick<Services, 'limits' | 'settings'>,
  hasRefreshCookie: HasRefreshCookie,
): AdmissionStep<number | null> {
  /**
   * A page asks for a session at every load, also where no user is signed in. Such a request reads nothing, and many visitors
   * behind one address must not use up the refreshes of those who are signed in.
   */
  const hasNothingToRefresh = ({ operation, request }: Admission) =>
    operation.limit === 'refresh' &&
    operation.usesRefreshCookie !== undefined &&
    !hasRefreshCookie(request)

  return {
    /** The live rate of logins; null where the rate is fixed. */
    async read({ operation }) {
      return operation.limit === 'login' ? settingsFor(surface, await settings()).loginRate : null
    },
    async judge(admission, loginRate) {
      const { address } = admission
      if (loginRate !== null) {
        await limits.checkWith('loginPerIp', address, { limit: loginRate, windowMs: 60_000 })
      }
      const limitClass = hasNothingToRefresh(admission) ? null : classOf(admission)
      const name = limitClass === null ? null : perIp[limitClass]
      if (name !== null) await limits.check(name, address)
    },
  }
}

/** Null where an access token is asked for: its session is counted once it is known. */
function classOf({ operation, request }: Admission): AddressClass | null {
  if (operation.access === 'public') return operation.limit
  const hasTicket =
    operation.access === 'enrolling' && request.header('authorization') === undefined
  return hasTicket ? operation.limit : null
}
