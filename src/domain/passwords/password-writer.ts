import type { HashLine } from '../../crypto/hash-gate.js'
import { normalizePassword, violatedRules } from '../../engine/passwords.js'
import { AuthError, type PasswordViolation } from '../../errors/index.js'
import type { RefreshFamily } from '../../model/sessions.js'
import type { User } from '../../model/user.js'
import type { Collection } from '../../ports/store.js'
import type { RequestSource } from '../../ports/surface.js'
import type { AuthSettings } from '../../settings/settings.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import { keepEnrolledFactor } from '../context/enrolled-factors.js'
import { type SpentIntent, sessionRefusal } from '../intents/intent-judge.js'
import { mailPasswordChanged } from '../mail/mail-service.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import { networkLine, sessionLine } from './password-check.js'

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

/** Sessions ended or a hash upgraded beside us move the record; credentials changed stop us. */
const attempts = 5

async function replace(
  ctx: SurfaceContext,
  user: User,
  passwordHash: string,
  change: PasswordChange,
): Promise<User | null> {
  const { id, credentialEpoch, sessionEpoch, deviceEpoch, emailVerifiedAt } = user
  // The person who made an account may change its password again and again, also one that is too old: that must not
  // void the links by which the owner of the mailbox takes it back. All else hangs on the other epochs as well.
  const isByOwner = change.by !== 'change' && change.by.kind === 'resetPassword'
  const voidsLinks = isByOwner || emailVerifiedAt !== null
  const now = ctx.clock.now()
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
  if (change.by !== 'change') await keepEnrolledFactor(ctx.collections, user)
  try {
    const guard = { credentialEpoch, sessionEpoch, deviceEpoch, enabled: true }
    return await ctx.collections.users.update(id, guard, set)
  } catch (error) {
    // The write may have taken effect. The salt is ours alone, so the record shows it.
    const found = await ctx.collections.users.get(id)
    if (found?.passwordHash === passwordHash) return found
    throw error
  }
}

/**
 * An ending of all sessions writes to the user first, and that of one session to the denylist: one that got no further yet
 * has ended this session too, and to keep it would open it again. The write asks for the same epochs.
 */
async function requireAsker(ctx: SurfaceContext, { sessionId }: PasswordChange, user: User) {
  if (sessionId === undefined) return
  const refusal = await sessionRefusal(ctx, user, sessionId)
  if (refusal !== null) throw refusal
}

/**
 * Checks the policy and replaces the password by one guarded write. Gives the user as written. Where
 * another request changed the credentials meanwhile, nothing is written: null, or the user as that
 * request left it where `isWritten` says that the new password is in force already. Throws
 * `session_revoked` or `session_max_age_reached` where the session that asks has ended.
 */
export async function writePassword(
  ctx: SurfaceContext,
  seen: User,
  newPassword: string,
  change: PasswordChange,
): Promise<User | null> {
  // Before anything is written: a password that was changed must not be answered by a failure.
  const { notifySecurityChanges } = await ctx.settings()
  const { source, sessionId } = change
  const line = sessionId ? sessionLine(ctx.surface, sessionId) : networkLine(ctx.surface, source)
  await checkNewPassword(ctx, newPassword, {
    email: seen.email,
    name: seen.name,
    existing: { userId: seen.id, passwordHash: seen.passwordHash },
    line,
  })
  const passwordHash = await ctx.passwords.hash(newPassword, line)
  // Before the user: cut short in between, a change has barred more than it had to, not less.
  const { keepSessionId: id } = change
  if (id !== null) await barReissues(ctx.collections.families, { id, userId: seen.id })
  let user: User | null = seen
  const attempt = async () => {
    if (user === null) return null
    if (isOvertaken(seen, user, change)) return asOthersLeft(user, change)
    if (user.passwordHash !== null) await rememberPassword(ctx, user.id, user.passwordHash)
    await requireAsker(ctx, change, user)
    const written = await replace(ctx, user, passwordHash, change)
    const found: User | null = written ?? (await ctx.collections.users.get(seen.id))
    // A guard that missed may have been met by the very write whose answer was lost.
    if (found?.passwordHash === passwordHash) {
      notifyChange(ctx, found, change, notifySecurityChanges)
      return found
    }
    user = found
    return conflict
  }
  return retryOnConflict(attempts, attempt, () => null)
}

function notifyChange(
  ctx: SurfaceContext,
  user: User,
  change: PasswordChange,
  mails: boolean,
): void {
  const at = ctx.clock.now()
  const by = change.by === 'change' ? 'change' : 'reset'
  ctx.emit('password.changed', change.source, { at, userId: user.id, by })
  if (mails) mailPasswordChanged(ctx, user, at)
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

/** Whose password it is to become. */
export interface PasswordSubject {
  readonly email: string
  readonly name: string
  /** Absent for an account about to be made. */
  readonly existing?: { readonly userId: string; readonly passwordHash: string | null }
  /** Where the comparison with earlier passwords waits its turn. */
  readonly line: HashLine
}

async function usedBefore(
  ctx: SurfaceContext,
  password: string,
  subject: PasswordSubject,
  count: number,
): Promise<boolean> {
  if (subject.existing === undefined || count === 0) return false
  const { userId, passwordHash } = subject.existing
  const history = (await ctx.collections.passwordHistories.get(userId))?.hashes ?? []
  const hashes = passwordHash === null ? history : [passwordHash, ...history]
  // A change that was not completed left the current hash in the history as well.
  for (const hash of [...new Set(hashes)].slice(0, count)) {
    if ((await ctx.passwords.verify(hash, password, subject.line)).ok) return true
  }
  return false
}

async function breached(
  ctx: SurfaceContext,
  password: string,
  mode: AuthSettings['passwordBreachCheck'],
): Promise<boolean> {
  if (mode === 'off') return false
  const verdict = await ctx.breachCheck.check(password)
  if (verdict === 'unavailable' && mode === 'failClosed') {
    throw new AuthError('service_unavailable')
  }
  return verdict === 'breached'
}

/**
 * Throws `password_policy`, naming the violated rules, when the password may not be set, and
 * `invalid_request` for text that is not well-formed. Call it before every write of a password.
 */
export async function checkNewPassword(
  ctx: SurfaceContext,
  typed: string,
  subject: PasswordSubject,
): Promise<void> {
  const password = normalizePassword(typed)
  if (password === null) throw new AuthError('invalid_request')
  const settings = await ctx.settings()
  const violations: PasswordViolation[] = [
    ...violatedRules({
      password,
      minLength: settings.passwordMinLength,
      blockCommon: settings.passwordBlockCommon,
      isCommon: settings.passwordBlockCommon ? await ctx.commonPasswords() : () => false,
      blockContextual: settings.passwordBlockContextual,
      contextWords: [...ctx.contextWords, subject.email, subject.name],
    }),
  ]
  // The slow checks only for a password that could pass.
  if (violations.length === 0) {
    if (await breached(ctx, password, settings.passwordBreachCheck)) violations.push('breached')
    else if (await usedBefore(ctx, password, subject, settings.passwordHistoryCount)) {
      violations.push('reused')
    }
  }
  if (violations.length > 0) throw policyError(violations)
}

/** Adds a hash about to be replaced to the user's history. Repeatable. */
export async function rememberPassword(
  ctx: SurfaceContext,
  userId: string,
  passwordHash: string,
): Promise<void> {
  const { passwordHistoryCount } = await ctx.settings()
  if (passwordHistoryCount === 0) return
  await retryOnConflict(5, async () => {
    const found = await ctx.collections.passwordHistories.get(userId)
    // If several writers race to replace one password, the first to get here did it for all.
    if (found?.hashes[0] === passwordHash) return found
    const hashes = [...new Set([passwordHash, ...(found?.hashes ?? [])])].slice(
      0,
      passwordHistoryCount,
    )
    const written =
      found === null
        ? await ctx.collections.passwordHistories.insert({
            id: userId,
            hashes,
            revision: 1,
            expiresAt: null,
          })
        : await ctx.collections.passwordHistories.update(
            userId,
            { revision: found.revision },
            { hashes, revision: found.revision + 1 },
          )
    return written || conflict
  })
}

function policyError(violations: readonly PasswordViolation[]): AuthError {
  const detail = `The password does not meet the policy: ${violations.join(', ')}.`
  return new AuthError('password_policy', { detail, violations })
}

/**
 * Once it resolves, no refresh token of this session that is out by now is exchanged for the newest: one of
 * its holders refreshes, and a refresh by the next is a replay. Resolves with the session's row; null where that
 * was swept, so that no token is left that could be refreshed. Throws `session_revoked` for a session that has ended.
 */
function barReissues(
  families: Collection<RefreshFamily>,
  { id, userId }: Pick<RefreshFamily, 'id' | 'userId'>,
): Promise<RefreshFamily | null> {
  return retryOnConflict(10, async () => {
    const family = await families.get(id)
    if (family === null) return null
    if (family.revokedAt !== null || family.userId !== userId) {
      throw new AuthError('session_revoked')
    }
    const { generation } = family
    const guard = { userId, generation, revokedAt: null }
    const barred = await families.update(id, guard, { noReissueUpTo: generation })
    return barred ?? conflict
  })
}
