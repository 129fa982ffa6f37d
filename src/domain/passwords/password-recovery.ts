import { isUuid } from '../../crypto/secrets.js'
import { entryRefusal, entryRules } from '../../engine/accounts.js'
import { canonicalEmail } from '../../engine/addresses.js'
import { resetLinkMs } from '../../engine/duration.js'
import { AuthError } from '../../errors/index.js'
import { isHuman, type User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import type { Act } from '../context/actor.js'
import {
  judgeIntentAgain,
  type OpenedIntent,
  type SpentIntent,
  spendIntentLast,
} from '../intents/intent-judge.js'
import {
  type IssuedTicket,
  issueMailedTicket,
  openMailedTicket,
  takeMailedTicket,
} from '../intents/mailed-intents.js'
import { type MailedLink, mailResetPassword, passwordLinkOf } from '../mail/mail-service.js'
import { endAllSessions } from '../sessions/session-endings.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import { proveOwner } from './owner-proof.js'
import { checkPasswordOfLink, clearPasswordFailures } from './password-check.js'
import { writePassword } from './password-writer.js'

type Mailbox = Pick<User, 'email' | 'emailVerifiedAt'>
type PasswordPurpose = 'resetPassword' | 'expiredPassword'
type PasswordIntent = SpentIntent<PasswordPurpose>

async function requireOpen(ctx: SurfaceContext): Promise<void> {
  const rules = entryRules(ctx.surface, await ctx.settings())
  const refusal = entryRefusal('recovery', rules)
  if (refusal !== null) throw new AuthError(refusal)
}

function issue(ctx: SurfaceContext, user: User): Promise<IssuedTicket> {
  const terms = { ttlMs: resetLinkMs, mailedTo: user.email, sessionId: null }
  return issueMailedTicket(ctx, user, { purpose: 'resetPassword', ...terms })
}

async function sendLink(
  ctx: SurfaceContext,
  user: User,
  languages: readonly string[],
): Promise<void> {
  mailResetPassword(ctx, user, await issue(ctx, user), languages)
}

/** A link that came by mail to this very address proves the mailbox, where no other did so before. */
function replaceByLink(
  ctx: SurfaceContext,
  intent: PasswordIntent,
  newPassword: string,
  source: RequestSource,
) {
  const { user } = intent
  if (isMailed(intent) && user.emailVerifiedAt === null) {
    return proveOwner(ctx, user, { by: intent, newPassword, source })
  }
  const change = { by: intent, endsSessions: true, keepSessionId: null, source }
  return writePassword(ctx, user, newPassword, change)
}

/**
 * The account with the new password. Where an earlier request wrote it, the same request again
 * completes that one; another password is not taken in its place.
 */
async function written(
  ctx: SurfaceContext,
  opened: OpenedIntent<PasswordPurpose>,
  newPassword: string,
  source: RequestSource,
): Promise<User | null> {
  const first = spendIntentLast(opened)
  const replaced = first.isWritten ? null : await replaceByLink(ctx, first, newPassword, source)
  if (replaced !== null) return replaced
  // An earlier request with this link may have stopped waiting for its write, which won over ours.
  const intent = first.isWritten ? first : spendIntentLast(await judgeIntentAgain(ctx, opened))
  if (!intent.isWritten) return null
  return (await checkPasswordOfLink(ctx, intent.payload, intent.user, newPassword))
    ? intent.user
    : null
}

/**
 * Hands back the mails of a user whose password was changed by a caller who knew it. The change voided the links
 * of those mails: a thief who changes it again and again must not leave the owner without one. Never
 * throws.
 */
export async function allowResetAgain(
  ctx: SurfaceContext,
  { email, emailVerifiedAt }: Mailbox,
): Promise<void> {
  // Where the mailbox is not proved, a change voids no link: see the password writer.
  if (emailVerifiedAt === null) return
  const asked = [`reset ${email}`, `reset for ${email}`]
  await Promise.all(asked.map((subject) => ctx.limits.forgive('recoveryPerAddress', subject)))
}

/** Mails a reset link when there is an account; the caller learns nothing. `languages` go with the mail. */
export async function forgotPassword(
  ctx: SurfaceContext,
  typed: string,
  languages: readonly string[],
  source: RequestSource,
): Promise<void> {
  await requireOpen(ctx)
  const email = canonicalEmail(typed)
  if (email === null) throw new AuthError('invalid_request')
  // A budget of its own: all it can be spent on is mails with a link that helps the owner.
  await ctx.limits.check('recoveryPerAddress', `reset ${email}`)
  const [user] = await ctx.collections.users.find({ email }, { limit: 1 })
  const owner = user?.enabled && isHuman(user) ? user : null
  if (owner !== null) {
    ctx.background.run('issuing a reset link', () => sendLink(ctx, owner, languages))
  }
  const facts = { actorId: null, userId: owner?.id ?? null }
  ctx.emit('password.resetRequested', source, facts)
}

/**
 * The same for an administrator, who learns whether there is such a person: throws
 * `user_not_found`. A disabled user gets no mail.
 */
export async function sendResetLink(ctx: SurfaceContext, userId: string, act: Act): Promise<void> {
  await requireOpen(ctx)
  const user = isUuid(userId) ? await ctx.collections.users.get(userId) : null
  if (user === null || !isHuman(user)) throw new AuthError('user_not_found')
  await ctx.limits.check('recoveryPerAddress', `reset for ${user.email}`)
  if (user.enabled) ctx.background.run('issuing a reset link', () => sendLink(ctx, user, []))
  const facts = { actorId: act.actorId, userId: user.enabled ? user.id : null }
  ctx.emit('password.resetRequested', act.source, facts)
}

/**
 * A reset link that the host hands over itself, in the place of any earlier one. Null where no enabled
 * person has the id. Throws `password_login_disabled`, and `email_not_verified`: a link that no mail carried must not
 * prove a mailbox.
 */
export async function resetLinkFor(
  ctx: SurfaceContext,
  userId: string,
  act: Act,
): Promise<MailedLink | null> {
  await requireOpen(ctx)
  const user = isUuid(userId) ? await ctx.collections.users.get(userId) : null
  if (user === null || !isHuman(user) || !user.enabled) return null
  if (user.emailVerifiedAt === null) throw new AuthError('email_not_verified')
  const link = passwordLinkOf(ctx, await issue(ctx, user))
  ctx.emit('password.resetRequested', act.source, { actorId: act.actorId, userId })
  return link
}

/**
 * Sets a new password with a mailed or login-given token and ends every session. Opens no
 * session. Throws `password_login_disabled`, `invalid_token`, `token_expired` or `password_policy`;
 * only `invalid_token` may have spent something.
 */
export async function resetPassword(
  ctx: SurfaceContext,
  token: string,
  newPassword: string,
  source: RequestSource,
): Promise<void> {
  const opened = await openMailedTicket(ctx, token, ['resetPassword', 'expiredPassword'])
  const intent = spendIntentLast(opened)
  const user = await written(ctx, opened, newPassword, source)
  if (user === null) throw new AuthError('invalid_token')
  if (!isMailed(intent)) await allowResetAgain(ctx, user)
  await endAllSessions(ctx, user.id, 'password_change', source)
  // Before the link is taken: afterwards, the same request sent again is refused.
  await clearPasswordFailures(ctx, user.email)
  await takeMailedTicket(ctx, intent)
}

function isMailed(intent: PasswordIntent): intent is SpentIntent<'resetPassword'> {
  return intent.kind === 'resetPassword'
}
