import { AuthError } from '../errors.js'
import type { User } from '../model/user.js'
import type { GuessBudget } from './guess-budget.js'
import type { Occasion } from './occasion.js'
import type { PasswordWriter } from './password-writer.js'
import type { Sessions } from './sessions.js'
import type { SurfaceDeps } from './surface-deps.js'

/** What a signed-in person does with their own account. */
export interface Profile {
  rename(user: User, name: string, occasion: Occasion): Promise<User>
  /**
   * Throws `invalid_credentials` for a wrong current password, which counts like a failed login,
   * and `password_policy`. Ends the other sessions when the settings say so (S-62).
   */
  changePassword(
    user: User,
    sessionId: string,
    input: { readonly currentPassword: string; readonly newPassword: string },
    occasion: Occasion,
  ): Promise<void>
}

type Deps = Pick<
  SurfaceDeps,
  'surface' | 'collections' | 'clock' | 'settings' | 'passwords' | 'emit'
>

export function createProfile(
  deps: Deps,
  sessions: Sessions,
  budget: GuessBudget,
  writer: PasswordWriter,
): Profile {
  const { surface, clock } = deps
  const { users } = deps.collections
  return {
    async rename(user, name, occasion) {
      const renamed = await users.update(
        user.id,
        { enabled: true },
        { name, updatedAt: clock.now() },
      )
      if (renamed === null || renamed === 'taken') throw new AuthError('permission_denied')
      deps.emit({
        type: 'account.updated',
        surface,
        at: clock.now(),
        ...occasion,
        actorId: user.id,
        targetId: user.id,
        fields: ['name'],
        before: {},
        after: {},
      })
      return renamed
    },

    async changePassword(user, sessionId, { currentPassword, newPassword }, occasion) {
      const userId = user.id
      const { ok } = await budget.spend(
        user.email,
        () => deps.passwords.verify(user.passwordHash, currentPassword),
        (_wrong, until) =>
          deps.emit({
            type: 'login.lockedOut',
            surface,
            at: clock.now(),
            ...occasion,
            userId,
            until,
          }),
      )
      if (!ok) {
        const type = 'password.changeFailed'
        deps.emit({ type, surface, at: clock.now(), ...occasion, userId, sessionId })
        throw new AuthError('invalid_credentials')
      }
      const { revokeSessionsOnPasswordChange: endsSessions } = await deps.settings()
      const written = await writer.write(user, newPassword, {
        by: 'change',
        endsSessions,
        keepSessionId: endsSessions ? sessionId : null,
        provesEmail: false,
        occasion,
      })
      // Somebody else changed the credentials since the current password was checked.
      if (written === null) throw new AuthError('invalid_credentials')
      if (endsSessions) await sessions.endAll(user.id, 'password_change', sessionId, occasion)
    },
  }
}
