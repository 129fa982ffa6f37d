import { uuidv7 } from '../../crypto/uuid.js'
import { canonicalEmail } from '../../engine/email.js'
import { settingsFor } from '../../engine/surface-settings.js'
import { AuthError, describeError } from '../../errors/index.js'
import { isHuman, type User } from '../../model/user.js'
import type { Argon2Params } from '../../ports/password-hasher.js'
import type { RequestSource } from '../../ports/request-source.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { Lockout } from '../limits/lockout.js'
import type { PasswordHashes } from '../passwords/password-hashes.js'
import type { FactorsOfUser, FirstFactor, LoginPipeline, LoginResult } from './login-pipeline.js'

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

interface Deps
  extends Pick<
    SurfaceContext,
    'surface' | 'collections' | 'clock' | 'random' | 'settings' | 'emit' | 'logger'
  > {
  readonly passwords: PasswordHashes
}

/** What came of a guess at a password. */
interface Checked {
  readonly ok: boolean
  readonly user: User | null
  readonly factors: FactorsOfUser
  readonly failedAttempts: number
  readonly rehashTo: Argon2Params | null
}

export function createPasswordLogin(
  deps: Deps,
  pipeline: LoginPipeline,
  lockout: Lockout,
): PasswordLogin {
  const { surface } = deps
  const { users } = deps.collections
  const nobody = uuidv7(deps.clock.now(), deps.random)

  async function authenticate(
    typed: string,
    password: string,
    failedAttempts: number,
  ): Promise<Checked> {
    const email = canonicalEmail(typed)
    const found = email === null ? [] : await users.find({ email }, { limit: 1 })
    const user = found[0] ?? null
    const [verdict, factors] = await Promise.all([
      deps.passwords.verify(user?.passwordHash ?? null, password),
      // Beside the hash, which mostly takes longer. Of nobody as well: where the store is the slower
      // one, addresses with an account would take longer than those without.
      pipeline.lookUp(user?.id ?? nobody),
    ])
    const eligible = user?.enabled === true && isHuman(user)
    const { ok, rehashTo } = verdict
    return { ok: ok && eligible, user, factors, failedAttempts, rehashTo }
  }

  /** Transparent: whatever goes wrong here, the login succeeds. */
  async function upgrade(user: User, password: string, params: Argon2Params): Promise<void> {
    try {
      const passwordHash = await deps.passwords.rehash(password, params)
      // Compare-and-set on the old hash: a password changed meanwhile stays as it is.
      await users.update(user.id, { passwordHash: user.passwordHash }, { passwordHash })
    } catch (error) {
      deps.logger.warn('a weak password hash could not be upgraded', describeError(error))
    }
  }

  async function provenUser(typed: string, password: string, source: RequestSource) {
    const key = canonicalEmail(typed) ?? typed.slice(0, 320)
    const { ok, user, factors, failedAttempts, rehashTo } = await lockout.attempt(
      key,
      (failedBefore) => authenticate(typed, password, failedBefore),
      (guess, until) => {
        const userId = guess.user?.id ?? null
        deps.emit('login.lockedOut', source, { userId, until })
      },
    )
    if (!ok || user === null) {
      deps.emit('login.failed', source, {
        userId: user?.id ?? null,
        method: 'password',
        reason: 'invalid_credentials',
      })
      throw new AuthError('invalid_credentials')
    }
    if (rehashTo !== null) await upgrade(user, password, rehashTo)
    return { user, factors, failedAttempts }
  }

  return {
    async withPassword(typed, password, device, source) {
      const settings = await deps.settings()
      if (!settingsFor(surface, settings).passwordLoginEnabled) {
        throw new AuthError('password_login_disabled')
      }
      const proven = await provenUser(typed, password, source)
      const how = { method: 'password', amr: ['pwd'], second: null, ...device }
      return pipeline.proceed({ ...proven, ...how }, source)
    },
  }
}
