import { entryRefusal, entryRules, loginEntry } from '../../engine/accounts.js'
import {
  allowedFactors,
  decideSecondFactor,
  type SecondFactorDecision,
} from '../../engine/factors.js'
import { settingsFor } from '../../engine/surface-settings.js'
import { AuthError } from '../../errors/index.js'
import type { TrustedDevice } from '../../model/factors.js'
import type { RequestSource } from '../../ports/surface.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { TrustedDevices } from '../factors/trusted-devices.js'
import { enrolledOf, type FactorsOfUser } from './factors-of-user.js'
import type { FirstFactor } from './first-factor.js'

type HowFirst = Pick<FirstFactor, 'user' | 'method'>

/** The checks that a login passes. None of them changes anything. */
export interface LoginChecks {
  /**
   * Called only after a first factor was shown. Throws `invalid_credentials`, `email_not_verified`, and
   * `password_login_disabled` or `mfa_method_disabled` where this first factor was switched off meanwhile.
   */
  requireStanding(how: HowFirst, source: RequestSource): Promise<void>
  /** Whether the policy asks for a second factor, and for which. */
  decide(known: FactorsOfUser, first: FirstFactor): Promise<SecondFactorDecision>
  isPasswordTooOld(how: HowFirst): Promise<boolean>
  /** The device that stands for the second factor; never for one that would set a password. */
  trustedDevice(first: FirstFactor): Promise<TrustedDevice | null>
}

type Deps = Pick<SurfaceContext, 'surface' | 'clock' | 'settings' | 'emit'>

interface Services {
  readonly devices: TrustedDevices
}

export function createLoginChecks(deps: Deps, { devices }: Services): LoginChecks {
  const { surface, clock } = deps

  async function requireStanding({ user, method }: HowFirst, source: RequestSource): Promise<void> {
    const rules = entryRules(surface, await deps.settings())
    const refusal = entryRefusal(loginEntry(method), rules, { account: user })
    if (refusal === null) return
    if (refusal === 'email_not_verified') {
      deps.emit('login.failed', source, { userId: user.id, method, reason: refusal })
    }
    throw new AuthError(refusal)
  }

  async function isPasswordTooOld({ user, method }: HowFirst): Promise<boolean> {
    const { passwordMaxAge } = await deps.settings()
    if (method !== 'password' || passwordMaxAge === null) return false
    return clock.now() - (user.passwordChangedAt ?? user.createdAt) > passwordMaxAge
  }

  return {
    requireStanding,
    isPasswordTooOld,

    async decide(known, { second }) {
      if (second !== null) return { kind: 'none' }
      const settings = await deps.settings()
      const { mfaPolicy: policy } = settingsFor(surface, settings)
      const allowed = allowedFactors(settings)
      return decideSecondFactor({ policy, enrolled: enrolledOf(known), allowed })
    },

    async trustedDevice(first) {
      if (await isPasswordTooOld(first)) return null
      return devices.recognise(first.user, first.deviceToken)
    },
  }
}
