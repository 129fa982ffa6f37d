import { canonicalEmail } from '../engine/email.js'
import { settingsFor } from '../engine/surface-settings.js'
import { AuthError, describeError } from '../errors.js'
import { isHuman, type User } from '../model/user.js'
import type { Argon2Params } from '../ports/password-hasher.js'
import type { LoginFailure } from '../ports/telemetry.js'
import type { GuessBudget } from './guess-budget.js'
import type { Occasion } from './occasion.js'
import type { OpenedSession, Sessions } from './sessions.js'
import type { SurfaceDeps } from './surface-deps.js'
import type { Tickets } from './tickets.js'

export type LoginResult =
  | { readonly status: 'authenticated'; readonly session: OpenedSession }
  /** The password is right but too old (S-18); the token is spent by a password reset. */
  | { readonly status: 'passwordChangeRequired'; readonly passwordToken: string }

export interface Login {
  /**
   * Throws `invalid_credentials` alike for an unknown address, a wrong password, a disabled
   * account, a machine account and one without a password, after exactly one hash verification.
   * Whatever else is wrong with an account is said only to who knows its password.
   */
  withPassword(email: string, password: string, occasion: Occasion): Promise<LoginResult>
}

type Deps = Pick<
  SurfaceDeps,
  'surface' | 'collections' | 'clock' | 'settings' | 'passwords' | 'emit' | 'logger'
>

/** A token for a password that must be replaced now (decisions on S-18). */
const passwordTokenMs = 5 * 60 * 1000

export function createLogin(
  deps: Deps,
  sessions: Sessions,
  tickets: Tickets,
  budget: GuessBudget,
): Login {
  const { surface, clock } = deps
  const { users } = deps.collections

  async function authenticate(
    typed: string,
    password: string,
  ): Promise<{ ok: boolean; user: User | null; rehashTo: Argon2Params | null }> {
    const email = canonicalEmail(typed)
    const found = email === null ? [] : await users.find({ email }, { limit: 1 })
    const user = found[0] ?? null
    const verdict = await deps.passwords.verify(user?.passwordHash ?? null, password)
    const eligible = user?.enabled === true && isHuman(user)
    return { ok: verdict.ok && eligible, user, rehashTo: verdict.rehashTo }
  }

  /** Transparent: whatever goes wrong here, the login succeeds (R-1-06). */
  async function upgrade(user: User, password: string, params: Argon2Params): Promise<void> {
    try {
      const passwordHash = await deps.passwords.rehash(password, params)
      // Compare-and-set on the old hash: a password changed meanwhile stays as it is (R-1-07).
      await users.update(user.id, { passwordHash: user.passwordHash }, { passwordHash })
    } catch (error) {
      deps.logger.warn('a weak password hash could not be upgraded', describeError(error))
    }
  }

  async function provenUser(typed: string, password: string, occasion: Occasion): Promise<User> {
    const key = canonicalEmail(typed) ?? typed.slice(0, 320)
    const { ok, user, rehashTo } = await budget.spend(
      key,
      () => authenticate(typed, password),
      (guess, until) => {
        const userId = guess.user?.id ?? null
        deps.emit({ type: 'login.lockedOut', surface, at: clock.now(), ...occasion, userId, until })
      },
    )
    if (!ok || user === null) {
      announceFailure(user, 'invalid_credentials', occasion)
      throw new AuthError('invalid_credentials')
    }
    if (rehashTo !== null) await upgrade(user, password, rehashTo)
    return user
  }

  function announceFailure(user: User | null, reason: LoginFailure, occasion: Occasion): void {
    deps.emit({
      type: 'login.failed',
      surface,
      at: clock.now(),
      ...occasion,
      userId: user?.id ?? null,
      method: 'password',
      reason,
    })
  }

  return {
    async withPassword(typed, password, occasion) {
      const settings = await deps.settings()
      if (!settingsFor(surface, settings).passwordLoginEnabled) {
        throw new AuthError('password_login_disabled')
      }
      const user = await provenUser(typed, password, occasion)
      if (settings.emailVerificationRequired && user.emailVerifiedAt === null) {
        announceFailure(user, 'email_not_verified', occasion)
        throw new AuthError('email_not_verified')
      }
      const changedAt = user.passwordChangedAt ?? user.createdAt
      if (settings.passwordMaxAge !== null && clock.now() - changedAt > settings.passwordMaxAge) {
        const { token } = await tickets.issue(user, 'expiredPassword', passwordTokenMs, false)
        announceFailure(user, 'password_expired', occasion)
        return { status: 'passwordChangeRequired', passwordToken: token }
      }
      const facts = { loginMethod: 'password', amr: ['pwd'] }
      return { status: 'authenticated', session: await sessions.open(user, facts, occasion) }
    },
  }
}
