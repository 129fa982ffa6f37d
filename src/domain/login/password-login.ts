import { uuidv7 } from '../../crypto/secrets.js'
import { entryRefusal, entryRules } from '../../engine/accounts.js'
import { canonicalEmail } from '../../engine/addresses.js'
import { AuthError } from '../../errors/index.js'
import type { RequestSource } from '../../ports/surface.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { PendingRegistrations } from '../intents/pending-registrations.js'
import type { PasswordCheck } from '../passwords/password-check.js'
import type { FirstFactor } from './first-factor.js'
import type { LoginPipeline } from './login-pipeline.js'
import type { LoginResult } from './login-result.js'

/** What a login comes from, and where its tokens go. */
export interface LoginDevice
  extends Pick<FirstFactor, 'delivery' | 'deviceToken' | 'recognition' | 'linkKey'> {
  /** What the browser or app keeps of its registrations; null without. */
  readonly registrationKey: string | null
}

export interface PasswordLogin {
  /**
   * Throws `invalid_credentials` alike for an unknown address, a wrong password, a disabled
   * account, a machine account and one without a password, after exactly one hash verification and the
   * same reads.
   * Anything else that is wrong with an account is said only to a caller with its password. A caller who
   * registered the address in the same browser or app and did not confirm it gets `email_not_verified` in
   * place of `invalid_credentials`, whether or not the address has an account.
   */
  withPassword(
    email: string,
    password: string,
    device: LoginDevice,
    source: RequestSource,
  ): Promise<LoginResult>
}

type Deps = Pick<SurfaceContext, 'surface' | 'clock' | 'random' | 'settings' | 'emit'>

interface Services {
  readonly passwordCheck: PasswordCheck
  readonly pendingRegistrations: PendingRegistrations
  readonly pipeline: LoginPipeline
}

export function createPasswordLogin(
  deps: Deps,
  { passwordCheck, pendingRegistrations, pipeline }: Services,
): PasswordLogin {
  const { surface } = deps
  const nobody = uuidv7(deps.clock.now(), deps.random)

  async function registeredHere(typed: string, shown: string | null): Promise<boolean> {
    const email = canonicalEmail(typed)
    if (email === null || shown === null) return false
    return pendingRegistrations.wasMadeBy(shown, email)
  }

  async function provenUser(
    typed: string,
    password: string,
    shown: string | null,
    source: RequestSource,
  ) {
    const checked = await passwordCheck.ofAddress(typed, password, source, (found) =>
      pipeline.lookUp(found?.id ?? nobody),
    )
    const { ok, user, beside: factors, failedAttempts, upgrade, forgiven } = checked
    if (!ok || user === null) {
      deps.emit('login.failed', source, {
        userId: user?.id ?? null,
        method: 'password',
        reason: 'invalid_credentials',
      })
      const isWaiting = await registeredHere(typed, shown)
      throw new AuthError(isWaiting ? 'email_not_verified' : 'invalid_credentials')
    }
    return { proven: { user, factors, failedAttempts }, upgrade, forgiven }
  }

  return {
    async withPassword(typed, password, device, source) {
      const rules = entryRules(surface, await deps.settings())
      const refusal = entryRefusal('passwordLogin', rules)
      if (refusal !== null) throw new AuthError(refusal)
      const { registrationKey, ...to } = device
      const { proven, upgrade, forgiven } = await provenUser(
        typed,
        password,
        registrationKey,
        source,
      )
      try {
        const how = { method: 'password', amr: ['pwd'], second: null, ...to }
        const result = await pipeline.proceed({ ...proven, ...how }, source)
        // A password that has to be replaced gets a new hash in any case.
        if (result.status !== 'passwordChangeRequired') await upgrade()
        return result
      } finally {
        await forgiven
      }
    },
  }
}
