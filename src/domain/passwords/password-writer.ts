import type { HashLine } from '../../crypto/hash-gate.js'
import { isUuid } from '../../crypto/secrets.js'
import { entryRefusal, entryRules, ownerProvedWrite } from '../../engine/accounts.js'
import { resetLinkMs } from '../../engine/duration.js'
import { normalizePassword, violatedRules } from '../../engine/passwords.js'
import { AuthError, type PasswordViolation } from '../../errors/index.js'
import type { RefreshFamily } from '../../model/sessions.js'
import { isHuman, type User } from '../../model/user.js'
import type { OwnerProofWay } from '../../ports/events.js'
import type { Collection } from '../../ports/store.js'
import type { RequestSource } from '../../ports/surface.js'
import type { AuthSettings } from '../../settings/settings.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import type { Act } from '../context/actor.js'
import { requireEmail } from '../context/email-address.js'
import {
  judgeIntentAgain,
  type OpenedIntent,
  type SpentIntent,
  sessionRefusal,
  spendIntent,
} from '../intents/intents.js'
import {
  type IssuedTicket,
  issueMailedTicket,
  mailedKindOf,
  openMailedTicket,
  takeMailedTicket,
} from '../intents/login-intents.js'
import type { SignInIntent } from '../intents/oauth-flows.js'
import {
  type MailedLink,
  mailPasswordChanged,
  mailResetPassword,
  passwordLinkOf,
} from '../mail/mail-service.js'
import { endAllSessions } from '../sessions/session-endings.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import { clearGuesses, type SignInKey, signInKeyOf } from './guess-budgets.js'
import { checkPasswordOfLink, networkLine, sessionLine } from './password-check.js'

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
  const { id, credentialEpoch, sessionEpoch, deviceEpoch, secretsEpoch, emailVerifiedAt } = user
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
    secretsEpoch: secretsEpoch + 1,
    secretsChangedIn: change.sessionId ?? null,
    ...(change.by === 'change' ? {} : { lastIntentId: change.by.id }),
    ...(change.endsSessions
      ? { sessionEpoch: sessionEpoch + 1, keptSessionId: change.keepSessionId, keptIntentId: null }
      : {}),
  }
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
async function rememberPassword(
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

// Gives an account to the owner of its mailbox, which is not proved yet. A stranger may have made the account:
// nothing of theirs opens it any more, and no mail shows their text.

export interface OwnerFacts {
  readonly name?: string | undefined
  /** The terms that the owner accepts. Null and an empty text are none. */
  readonly termsVersion?: string | null
}

/** How the mailbox was proved, and what becomes of the password. */
export interface Proof {
  /** The link or code that was mailed to the address, or the flow to a provider that vouches for it. */
  readonly by: SpentIntent<'verifyEmail' | 'resetPassword' | 'mailedCode'> | SignInIntent
  /** Null clears the password that is there. */
  readonly newPassword: string | null
  /** What the owner says with the proof, or the provider of them. Default: nothing. */
  readonly owner?: OwnerFacts
  readonly source: RequestSource
}

/** A proof, and the hash of its password. */
interface Written extends Proof {
  readonly passwordHash: string | null
}

function wayOf({ kind }: Proof['by']): OwnerProofWay {
  if (kind === 'verifyEmail' || kind === 'mailedCode') return 'link'
  return kind === 'resetPassword' ? 'reset' : 'provider'
}

async function hashOf(ctx: SurfaceContext, user: User, { newPassword, owner = {}, source }: Proof) {
  if (newPassword === null) return null
  const { id, email, passwordHash } = user
  // A name that a stranger typed must not decide about the owner's password.
  const name = user.selfRegistered ? (owner.name ?? '') : user.name
  const line = networkLine(ctx.surface, source)
  const existing = { userId: id, passwordHash }
  await checkNewPassword(ctx, newPassword, { email, name, existing, line })
  return ctx.passwords.hash(newPassword, line)
}

/** Whether the record is what the write makes of it: the salt is ours, or without a password the intent. */
function isWritten(found: User | null, seen: User, { passwordHash, by }: Written): found is User {
  return (
    found !== null &&
    found.emailVerifiedAt !== null &&
    found.passwordHash === passwordHash &&
    (passwordHash !== null || found.lastIntentId === by.id) &&
    found.credentialEpoch === seen.credentialEpoch + 1
  )
}

async function write(ctx: SurfaceContext, user: User, proof: Written): Promise<User | null> {
  const { passwordHash, by, owner: { name = '', termsVersion = null } = {} } = proof
  const given = { passwordHash, name, termsVersion, lastIntentId: by.id }
  const proved = ownerProvedWrite(user, given, ctx.clock.now())
  try {
    return await ctx.collections.users.update(user.id, proved.guard, proved.set)
  } catch (error) {
    const found = await ctx.collections.users.get(user.id)
    if (isWritten(found, user, proof)) return found
    throw error
  }
}

function announce(
  ctx: SurfaceContext,
  before: User,
  after: User,
  { by, source }: Proof,
  mails: boolean,
): void {
  const at = ctx.clock.now()
  const userId = after.id
  ctx.emit('email.verified', source, { at, userId })
  ctx.emit('account.ownerProved', source, { at, userId, by: wayOf(by) })
  if (after.passwordHash === null) return
  ctx.emit('password.changed', source, { at, userId, by: 'reset' })
  if (mails && before.passwordHash !== null) mailPasswordChanged(ctx, after, at)
}

/**
 * One guarded write, after which no earlier session can be refreshed; the caller ends them
 * afterwards, and does so again where an earlier attempt was cut short. Checks the password policy
 * first. Null when the account was proved or its credentials were changed meanwhile: then nothing
 * was written.
 */
export async function proveOwner(
  ctx: SurfaceContext,
  seen: User,
  proof: Proof,
): Promise<User | null> {
  // Before anything is written: what was proved must not be answered by a failure.
  const { notifySecurityChanges, registrationTermsVersion } = await ctx.settings()
  const owner = accepting(proof.owner ?? {}, registrationTermsVersion)
  const written = { ...proof, owner, passwordHash: await hashOf(ctx, seen, proof) }
  let user: User | null = seen
  const attempt = async () => {
    if (user === null || user.emailVerifiedAt !== null) return null
    if (user.credentialEpoch !== seen.credentialEpoch) return null
    const before: User = user
    if (before.passwordHash !== null) {
      await rememberPassword(ctx, before.id, before.passwordHash)
    }
    const found: User | null =
      (await write(ctx, before, written)) ?? (await ctx.collections.users.get(seen.id))
    // A guard that missed may have been met by the very write whose answer was lost.
    if (isWritten(found, seen, written)) {
      announce(ctx, before, found, proof, notifySecurityChanges)
      return found
    }
    user = found
    return conflict
  }
  return retryOnConflict<User | null>(attempts, attempt, () => null)
}

/** Only the terms that are asked for count as accepted. Where none are asked for, any that the owner names count. */
function accepting({ name, termsVersion = null }: OwnerFacts, required: string): OwnerFacts {
  const isAsked = required === '' ? termsVersion !== '' : termsVersion === required
  return { name, termsVersion: isAsked ? termsVersion : null }
}

type Mailbox = Pick<User, 'email' | 'emailVerifiedAt'>
type PasswordKind = 'resetPassword' | 'expiredPassword'
type PasswordIntent = SpentIntent<PasswordKind>

async function requireOpen(ctx: SurfaceContext): Promise<void> {
  const rules = entryRules(ctx.surface, await ctx.settings())
  const refusal = entryRefusal('recovery', rules)
  if (refusal !== null) throw new AuthError(refusal)
}

function issue(ctx: SurfaceContext, user: User): Promise<IssuedTicket> {
  const terms = { user, boundTo: user.email, payload: {}, lifeMs: resetLinkMs }
  return issueMailedTicket(ctx, 'resetPassword', terms)
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
  opened: OpenedIntent<PasswordKind>,
  newPassword: string,
  source: RequestSource,
): Promise<User | null> {
  const first = spendIntent(opened)
  const replaced = first.isWritten ? null : await replaceByLink(ctx, first, newPassword, source)
  if (replaced !== null) return replaced
  // An earlier request with this link may have stopped waiting for its write, which won over ours.
  const intent = first.isWritten ? first : spendIntent(await judgeIntentAgain(ctx, opened))
  if (!intent.isWritten) return null
  return (await checkPasswordOfLink(ctx, intent.stored, intent.user, newPassword))
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
  const email = await requireEmail(typed, 'email')
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
 * session. Resolves with what gives its next logins guesses of their own; null where devices are not recognised. Throws `password_login_disabled`, `invalid_token`, `token_expired` or `password_policy`;
 * only `invalid_token` may have spent something.
 */
export async function resetPassword(
  ctx: SurfaceContext,
  token: string,
  newPassword: string,
  source: RequestSource,
): Promise<SignInKey | null> {
  const isOfLogin = mailedKindOf(token) === 'expiredPassword'
  const kind: PasswordKind = isOfLogin ? 'expiredPassword' : 'resetPassword'
  const opened = await openMailedTicket(ctx, token, kind)
  const intent = spendIntent(opened)
  const user = await written(ctx, opened, newPassword, source)
  if (user === null) throw new AuthError('invalid_token')
  if (!isMailed(intent)) await allowResetAgain(ctx, user)
  await endAllSessions(ctx, user.id, 'password_change', source)
  // Before the link is taken: afterwards, the same request sent again is refused.
  await clearGuesses(ctx, user, 'password')
  await takeMailedTicket(ctx, intent)
  return signInKeyOf(ctx, user)
}

function isMailed(intent: PasswordIntent): intent is SpentIntent<'resetPassword'> {
  return intent.kind === 'resetPassword'
}
