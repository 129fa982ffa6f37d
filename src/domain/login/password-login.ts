import { uuidv7 } from '../../crypto/uuid.js'
import { admissionRefusal, admissionRules } from '../../engine/admission.js'
import { AuthError } from '../../errors/index.js'
import type { RequestSource } from '../../ports/request-source.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { PasswordCheck } from '../passwords/password-check.js'
import type { FirstFactor } from './first-factor.js'
import type { LoginPipeline } from './login-pipeline.js'
import type { LoginResult } from './login-result.js'

export interface PasswordLogin {
  /**
   * Throws `invalid_credentials` alike for an unknown address, a wrong password, a disabled
   * account, a machine account and one without a password, after exactly one hash verification and the
   * same reads.
   * Whatever else is wrong with an account is said only to who knows its password.
   */
  withPassword(
    email: string,
    password: string,
    device: Pick<FirstFactor, 'delivery' | 'deviceToken'>,
    source: RequestSource,
  ): Promise<LoginResult>
}

type Deps = Pick<SurfaceContext, 'surface' | 'clock' | 'random' | 'settings' | 'emit'>

export function createPasswordLogin(
  deps: Deps,
  pipeline: LoginPipeline,
  passwordCheck: PasswordCheck,
): PasswordLogin {
  const { surface } = deps
  const nobody = uuidv7(deps.clock.now(), deps.random)

  async function provenUser(typed: string, password: string, source: RequestSource) {
    const checked = await passwordCheck.ofAddress(typed, password, source, (found) =>
      pipeline.lookUp(found?.id ?? nobody),
    )
    const { ok, user, beside: factors, failedAttempts } = checked
    if (!ok || user === null) {
      deps.emit('login.failed', source, {
        userId: user?.id ?? null,
        method: 'password',
        reason: 'invalid_credentials',
      })
      throw new AuthError('invalid_credentials')
    }
    return { user, factors, failedAttempts }
  }

  return {
    async withPassword(typed, password, device, source) {
      const rules = admissionRules(surface, await deps.settings())
      const refusal = admissionRefusal('passwordLogin', rules)
      if (refusal !== null) throw new AuthError(refusal)
      const proven = await provenUser(typed, password, source)
      const how = { method: 'password', amr: ['pwd'], second: null, ...device }
      return pipeline.proceed({ ...proven, ...how }, source)
    },
  }
}
