import { sha256 } from '../../crypto/secrets.js'
import { entryRules } from '../../engine/accounts.js'
import { maxPasswordBytes } from '../../engine/passwords.js'
import { settingsFor } from '../../engine/surface-settings.js'
import { AuthError } from '../../errors/index.js'
import type { OauthIdentity, User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import type { AuthSettings } from '../../settings/settings.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import type { Principal, SignedIn } from '../context/principal.js'
import { requireReAuthentication } from '../factors/step-up.js'
import { sessionRefusal } from '../intents/intent-judge.js'
import { limitedSuccess } from '../limits/rate-limiter.js'
import { mailAccountDeleted } from '../mail/mail-service.js'
import { identitiesOf } from '../oauth/oauth-identities.js'
import { offeredProviders } from '../oauth/oauth-sign-in.js'
import { checkPasswordOfSession } from '../passwords/password-check.js'
import { allowResetAgain } from '../passwords/password-recovery.js'
import { writePassword } from '../passwords/password-writer.js'
import { endAllSessions } from '../sessions/session-endings.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import { deleteAccount } from './account-deletions.js'

// What a signed-in person does with their own account.

type AskingSession = Pick<SignedIn, 'user' | 'sessionId'>

/** An account at a provider, as its owner sees it. */
export type LinkedIdentity = Pick<OauthIdentity, 'provider' | 'linkedAt'>

/** A proof of the mailbox beside us moves the record, once. */
const attempts = 3

/**
 * The owner's proof of the mailbox ends the sessions of a stranger by one write, and reaches each of them a little
 * later. A session that began after the proof is the owner's.
 */
function isOlderThanProof(
  { claims }: Principal,
  { selfRegistered, emailVerifiedAt }: Pick<User, 'selfRegistered' | 'emailVerifiedAt'>,
): boolean {
  return selfRegistered && emailVerifiedAt !== null && claims.authTime * 1000 <= emailVerifiedAt
}

/** The accounts at providers they can sign in with. */
export async function listLinkedIdentities(
  ctx: SurfaceContext,
  userId: string,
): Promise<readonly LinkedIdentity[]> {
  const linked = await identitiesOf(ctx, userId)
  return linked.map(({ provider, linkedAt }) => ({ provider, linkedAt }))
}

/**
 * Throws `permission_denied` for an account that was disabled meanwhile. Where the owner of the mailbox proved it since
 * the session began, throws what `sessionRefusal` gives.
 */
export async function renameUser(
  ctx: SurfaceContext,
  { user, sessionId, principal }: SignedIn,
  name: string,
  source: RequestSource,
): Promise<User> {
  let seen = user
  const attempt = async () => {
    const refusal = isOlderThanProof(principal, seen)
      ? await sessionRefusal(ctx, seen, sessionId)
      : null
    if (refusal !== null) throw refusal
    const guard = { enabled: true, emailVerifiedAt: seen.emailVerifiedAt }
    const renamed = await ctx.collections.users.update(user.id, guard, {
      name,
      updatedAt: ctx.clock.now(),
    })
    if (renamed !== null) return renamed
    const found = await ctx.collections.users.get(user.id)
    if (found === null || !found.enabled) throw new AuthError('permission_denied')
    seen = found
    return conflict
  }
  const renamed = await retryOnConflict(attempts, attempt)
  ctx.emit('account.updated', source, {
    actorId: user.id,
    targetId: user.id,
    fields: ['name'],
    before: {},
    after: {},
  })
  return renamed
}

/**
 * Throws `invalid_credentials` for a wrong current password, of which too many end the session,
 * `password_policy`, and `rate_limited` for more than a few changes of one account in an hour. Ends
 * the other sessions when the settings say so. In that case one holder of this session's refresh token
 * goes on, and a refresh by the next holder is a replay.
 */
export async function changePassword(
  ctx: SurfaceContext,
  { user, sessionId }: AskingSession,
  input: { readonly currentPassword: string; readonly newPassword: string },
  source: RequestSource,
): Promise<void> {
  const { currentPassword, newPassword } = input
  const userId = user.id
  const isPassword = (guess: string, of: User) =>
    checkPasswordOfSession(ctx, { user: of, sessionId }, guess, source)
  // The new password was written and not all other sessions were ended: the same request
  // again completes it. Only the session that was spared gets there, and each guess counts.
  const isWritten = async (of: User) =>
    of.keptSessionId === sessionId && (await isPassword(newPassword, of))
  if (!(await isPassword(currentPassword, user))) {
    if (await isWritten(user)) {
      await endAllSessions(ctx, userId, 'password_change', source, { except: sessionId })
      return
    }
    ctx.emit('password.changeFailed', source, { userId, sessionId })
    throw new AuthError('invalid_credentials')
  }
  const { revokeSessionsOnPasswordChange: endsSessions } = await ctx.settings()
  // Each change voids the link by which the owner takes the account back from a thief.
  await limitedSuccess(ctx.limits, 'passwordChangePerUser', userId, async () => {
    const written = await writePassword(ctx, user, newPassword, {
      by: 'change',
      endsSessions,
      keepSessionId: endsSessions ? sessionId : null,
      source,
      sessionId,
      // A request that is sent again meets the write of its first, even that of a process which is gone.
      isWritten,
    })
    // Another request changed the credentials since the current password was checked.
    if (written === null) throw new AuthError('invalid_credentials')
  })
  await allowResetAgain(ctx, user)
  if (endsSessions) {
    await endAllSessions(ctx, user.id, 'password_change', source, { except: sessionId })
  }
}

// The deletion of an account by its owner.

/**
 * Throws `account_deletion_disabled`, and what re-authentication throws: nothing is deleted where the owner took the
 * account back meanwhile. After any other rejection the account may be closed already, and is then deleted by the
 * process that sweeps.
 */
export async function deleteOwnAccount(
  ctx: SurfaceContext,
  who: SignedIn,
  currentPassword: string | undefined,
  source: RequestSource,
): Promise<void> {
  // Before anything is written: what was deleted must not be answered by a failure.
  const settings = await ctx.settings()
  if (!settingsFor(ctx.surface, settings).accountDeletionEnabled) {
    throw new AuthError('account_deletion_disabled')
  }
  const refusalSince = await requireReAuthentication(ctx, who, currentPassword, source)
  const act = { actorId: who.user.id, source }
  const finisher = await deleteAccount(ctx, who.user.id, act, refusalSince)
  // If two requests come at once, one tells the owner.
  const tells = finisher === 'this' && settings.notifySecurityChanges
  if (tells) mailAccountDeleted(ctx, who.user, ctx.clock.now())
}

/** What sign-in and registration pages of a surface have to know, and strangers may. */
export interface PageOptions {
  /** Whether new accounts are made at all: with a password where `passwordLogin` is true, and by `providers`. */
  readonly registrationOpen: boolean
  readonly passwordLogin: boolean
  readonly passkeys: AuthSettings['webauthnMode']
  /** Whether an authenticator app may be enrolled. */
  readonly totp: boolean
  /** The ids of the providers that people sign in with. */
  readonly providers: readonly string[]
  /** In code points, after NFC. */
  readonly passwordMinLength: number
  /** In bytes of UTF-8. */
  readonly passwordMaxLength: number
  /** The terms that a registration has to accept; null for none. */
  readonly termsVersion: string | null
  readonly emailVerificationRequired: boolean
}

export interface TaggedPageOptions {
  readonly options: PageOptions
  /** The same for the same options, and for no others. */
  readonly version: string
}

/** Read from the settings alone, and the same for every caller. */
export async function pageOptions(ctx: SurfaceContext): Promise<TaggedPageOptions> {
  const [current, offered] = await Promise.all([ctx.settings(), offeredProviders(ctx)])
  const rules = entryRules(ctx.surface, current)
  const options: PageOptions = {
    registrationOpen: rules.registrationEnabled,
    passwordLogin: rules.passwordLoginEnabled,
    passkeys: current.webauthnMode,
    totp: current.totpEnabled,
    providers: offered.map(({ id }) => id),
    passwordMinLength: current.passwordMinLength,
    passwordMaxLength: maxPasswordBytes,
    termsVersion: rules.requiredTerms === '' ? null : rules.requiredTerms,
    emailVerificationRequired: rules.verificationRequired,
  }
  return { options, version: sha256(JSON.stringify(options)) }
}
