import type { User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import { keepEnrolledFactor } from '../context/keep-enrolled-factor.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { IntentJudge } from '../intents/intent-judge.js'
import type { SpentIntent } from '../intents/spent-intent.js'
import type { MailService } from '../mail/mail-service.js'
import { barReissues } from '../sessions/bar-reissues.js'
import { networkLine, sessionLine } from './hash-lines.js'
import type { PasswordHashes } from './password-hashes.js'
import type { PasswordRules } from './password-rules.js'

export interface PasswordChange {
  /** A signed-in user who showed the present password, or a link that was spent for it. */
  readonly by: 'change' | SpentIntent<'resetPassword' | 'expiredPassword'>
  /** Raises the session epoch; the caller ends the sessions afterwards. */
  readonly endsSessions: boolean
  /** The one that goes on. Its refresh tokens so far are exchanged for the newest no more. */
  readonly keepSessionId: string | null
  readonly source: RequestSource
  /** The id of the session that asks for it; absent for a caller who is not signed in. */
  readonly sessionId?: string
  /** Whether credentials that were changed meanwhile are what this change asks for. */
  readonly isWritten?: (now: User) => Promise<boolean>
}

export interface PasswordWriter {
  /**
   * Checks the policy and replaces the password by one guarded write. Gives the user as written. Where
   * another request changed the credentials meanwhile, nothing is written: null, or the user as that
   * request left it where `isWritten` says that the new password is in force already. Throws
   * `session_revoked` or `session_max_age_reached` where the session that asks has ended.
   */
  write(user: User, newPassword: string, change: PasswordChange): Promise<User | null>
}

interface Deps
  extends Pick<SurfaceContext, 'surface' | 'collections' | 'clock' | 'settings' | 'emit'> {
  readonly passwords: PasswordHashes
  readonly judge: Pick<IntentJudge, 'sessionRefusal'>
  readonly passwordRules: PasswordRules
  readonly mail: MailService
}

/** Sessions ended or a hash upgraded beside us move the record; credentials changed stop us. */
const attempts = 5

export function createPasswordWriter(deps: Deps): PasswordWriter {
  const { surface, clock, passwordRules } = deps
  const { users, families } = deps.collections

  async function replace(
    user: User,
    passwordHash: string,
    change: PasswordChange,
  ): Promise<User | null> {
    const { id, credentialEpoch, sessionEpoch, deviceEpoch, emailVerifiedAt } = user
    // The person who made an account may change its password again and again, also one that is too old: that must not
    // void the links by which the owner of the mailbox takes it back. All else hangs on the other epochs as well.
    const isByOwner = change.by !== 'change' && change.by.kind === 'resetPassword'
    const voidsLinks = isByOwner || emailVerifiedAt !== null
    const now = clock.now()
    const set = {
      passwordHash,
      passwordChangedAt: now,
      updatedAt: now,
      credentialEpoch: voidsLinks ? credentialEpoch + 1 : credentialEpoch,
      deviceEpoch: deviceEpoch + 1,
      ...(change.by === 'change' ? {} : { lastIntentId: change.by.id }),
      ...(change.endsSessions
        ? { sessionEpoch: sessionEpoch + 1, keptSessionId: change.keepSessionId }
        : {}),
    }
    if (change.by !== 'change') await keepEnrolledFactor(deps.collections, user)
    try {
      const guard = { credentialEpoch, sessionEpoch, deviceEpoch, enabled: true }
      return await users.update(id, guard, set)
    } catch (error) {
      // The write may have taken effect. The salt is ours alone, so the record shows it.
      const found = await users.get(id)
      if (found?.passwordHash === passwordHash) return found
      throw error
    }
  }

  /**
   * An ending of all sessions writes to the user first, and that of one session to the denylist: one that got no further yet
   * has ended this session too, and to keep it would open it again. The write asks for the same epochs.
   */
  async function requireAsker({ sessionId }: PasswordChange, user: User) {
    if (sessionId === undefined) return
    const refusal = await deps.judge.sessionRefusal(user, sessionId)
    if (refusal !== null) throw refusal
  }

  return {
    async write(seen, newPassword, change) {
      // Before anything is written: a password that was changed must not be answered by a failure.
      const { notifySecurityChanges } = await deps.settings()
      const { source, sessionId } = change
      const line = sessionId ? sessionLine(surface, sessionId) : networkLine(surface, source)
      await passwordRules.check(newPassword, {
        email: seen.email,
        name: seen.name,
        existing: { userId: seen.id, passwordHash: seen.passwordHash },
        line,
      })
      const passwordHash = await deps.passwords.hash(newPassword, line)
      // Before the user: cut short in between, a change has barred more than it had to, not less.
      const { keepSessionId: id } = change
      if (id !== null) await barReissues(families, { id, userId: seen.id })
      let user: User | null = seen
      const attempt = async () => {
        if (user === null) return null
        if (isOvertaken(seen, user, change)) return asOthersLeft(user, change)
        if (user.passwordHash !== null) await passwordRules.remember(user.id, user.passwordHash)
        await requireAsker(change, user)
        const written = await replace(user, passwordHash, change)
        const found: User | null = written ?? (await users.get(seen.id))
        // A guard that missed may have been met by the very write whose answer was lost.
        if (found?.passwordHash === passwordHash) {
          notifyChange(found, change, notifySecurityChanges)
          return found
        }
        user = found
        return conflict
      }
      return retryOnConflict(attempts, attempt, () => null)
    },
  }

  function notifyChange(user: User, change: PasswordChange, mails: boolean): void {
    const at = clock.now()
    const by = change.by === 'change' ? 'change' : 'reset'
    deps.emit('password.changed', change.source, { at, userId: user.id, by })
    if (mails) deps.mail.passwordChanged(user, at)
  }
}

/** Whether something voided the change while its hash waited. */
function isOvertaken(seen: User, now: User, { by }: PasswordChange): boolean {
  if (now.credentialEpoch !== seen.credentialEpoch) return true
  if (now.passwordChangedAt !== seen.passwordChangedAt) return true
  // A login with an old password hangs on sessions and factors as well. An ending of all sessions moves this epoch too.
  const isOfLogin = by !== 'change' && by.kind === 'expiredPassword'
  return isOfLogin && now.deviceEpoch !== seen.deviceEpoch
}

/** The account as another request left it, where that is what this change asks for. */
async function asOthersLeft(now: User, { isWritten }: PasswordChange): Promise<User | null> {
  return (await isWritten?.(now)) === true ? now : null
}
