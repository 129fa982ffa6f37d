import { isUuid, sha256 } from '../../crypto/secrets.js'
import { entryRefusal, entryRules } from '../../engine/accounts.js'
import { maxPasswordBytes } from '../../engine/passwords.js'
import { settingsFor } from '../../engine/surface-settings.js'
import { AuthError } from '../../errors/index.js'
import { addressStartOf, isHuman, type OauthIdentity, type User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import type { AuthSettings } from '../../settings/settings.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import type { Act, Principal, SignedIn } from '../context/actor.js'
import { readEmail, requireEmail } from '../context/email-address.js'
import { requireReAuthentication } from '../factors/step-up.js'
import {
  type OpenedIntent,
  type SpentIntent,
  sessionRefusal,
  spendIntent,
} from '../intents/intents.js'
import { issueMailedTicket, takeMailedTicket } from '../intents/login-intents.js'
import { limitedSuccess } from '../limits/rate-limiter.js'
import { mailAccountExists, mailChangeEmail, mailOwner } from '../mail/mail-service.js'
import { identitiesOf } from '../oauth/oauth-links.js'
import { offeredProviders } from '../oauth/oauth-sign-in.js'
import {
  checkPasswordOfLink,
  checkPasswordOfSession,
  clearPasswordFailures,
} from '../passwords/password-check.js'
import { allowResetAgain, writePassword } from '../passwords/password-writer.js'
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
  if (tells)
    void mailOwner(ctx, who.user, { template: 'accountDeleted', data: { at: ctx.clock.now() } })
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

// Moving an account to another address: asked for by its owner, confirmed from the new mailbox.

/** What shows that the caller who confirms the change also asked for it. */
export interface AddressAsker {
  /** The session of the request's bearer token; null without one. */
  readonly sessionId: string | null
  readonly currentPassword?: string | undefined
}

interface LinkTerms {
  /** The new address as it was typed. */
  readonly typed: string
  readonly ttlMs: number
  readonly languages: readonly string[]
}

type ChangeIntent = SpentIntent<'changeEmail'>

/** In place of the session that asked; no session has this id. */
const byAdministrator = 'administrator'

const passwordsOff =
  'Passwords are switched off. Open the link where you asked for the change and are signed in, or ask for it again.'

async function admit(ctx: SurfaceContext, typed: string): Promise<string> {
  const rules = entryRules(ctx.surface, await ctx.settings())
  const email = await requireEmail(typed, 'newEmail')
  const applicant = { email, acceptedTerms: '' }
  const refusal = entryRefusal('addressChange', rules, { applicant })
  if (refusal !== null) throw new AuthError(refusal)
  return email
}

/** An earlier link is void either way. The account's present address needs no confirmation. */
async function sendLink(
  ctx: SurfaceContext,
  { user, sessionId }: AskingSession,
  email: string,
  { typed, ttlMs, languages }: LinkTerms,
): Promise<void> {
  const terms = { user, boundTo: sessionId, payload: { email: typed }, lifeMs: ttlMs }
  const ticket = await issueMailedTicket(ctx, 'changeEmail', terms)
  const [owner] = await ctx.collections.users.find({ email }, { limit: 1 })
  if (owner === undefined) mailChangeEmail(ctx, user, { email, languages }, ticket)
  else if (owner.id !== user.id) void mailAccountExists(ctx, { email, name: '', languages })
}

/** By an earlier request with this link, that was cut off or whose answer was lost. */
function isMoved(user: User, email: string, intent: ChangeIntent): boolean {
  return user.email === email && user.lastIntentId === intent.id
}

/**
 * Takes the link. If the user has asked for a newer link in the meantime, the event of this request is still emitted.
 */
async function take(ctx: SurfaceContext, intent: ChangeIntent, isOurs: boolean): Promise<boolean> {
  if (await takeMailedTicket(ctx, intent)) return true
  return isOurs && (await ctx.collections.intents.get(intent.stored.id)) !== null
}

/** Whose write gave the account the address; null when it does not have it. */
async function move(
  ctx: SurfaceContext,
  intent: ChangeIntent,
  email: string,
): Promise<{ readonly by: 'this' | 'other' } | null> {
  const { user, stored } = intent
  if (isMoved(user, email, intent)) return { by: 'other' }
  const { credentialEpoch, sessionEpoch, deviceEpoch } = stored
  const now = ctx.clock.now()
  const moved = await ctx.collections.users.update(
    user.id,
    // An owner alarmed by the notice ends all sessions, which also voids what one of them asked for.
    { credentialEpoch, sessionEpoch, deviceEpoch, enabled: true, kind: '' },
    {
      email,
      addressStart: addressStartOf(email),
      emailAsTyped: stored.payload.email,
      emailVerifiedAt: now,
      credentialEpoch: credentialEpoch + 1,
      lastIntentId: intent.id,
      updatedAt: now,
    },
  )
  if (moved !== null) return { by: 'this' }
  // The write may have been another request's, or ours, carried out twice by a driver.
  const found = await ctx.collections.users.get(user.id)
  return found !== null && isMoved(found, email, intent) ? { by: 'other' } : null
}

/** Nothing is asked where the account is moved already: the rest is only to be done. */
async function requireAsker(
  ctx: SurfaceContext,
  { user, stored, isWritten }: ChangeIntent,
  { sessionId, currentPassword }: AddressAsker,
  source: RequestSource,
): Promise<void> {
  // The account may have no session and no password, and an administrator answers for its owner.
  if (isWritten || stored.boundTo === byAdministrator) return
  if (sessionId !== null && sessionId === stored.boundTo) {
    // Its access token outlives the session by a little; the right to go on with this does not.
    if ((await sessionRefusal(ctx, user, sessionId)) === null) return
  }
  const { passwordLoginEnabled } = settingsFor(ctx.surface, await ctx.settings())
  // While passwords are off, one that is left proves nothing.
  if (!passwordLoginEnabled)
    throw new AuthError('password_login_disabled', { detail: passwordsOff })
  if (currentPassword === undefined) throw new AuthError('current_password_required')
  if (await checkPasswordOfLink(ctx, stored, user, currentPassword)) return
  ctx.emit('password.changeFailed', source, { userId: user.id, sessionId: null })
  throw new AuthError('invalid_credentials')
}

/**
 * Mails a link to the new address, and a notice to the present one. If the new one has an account,
 * only its owner is notified. Throws `invalid_request`, `email_not_allowed`,
 * `email_domain_not_allowed`, `rate_limited`, and what re-authentication throws.
 */
export async function requestEmailChange(
  ctx: SurfaceContext,
  who: SignedIn,
  {
    newEmail,
    currentPassword,
    languages,
  }: {
    readonly newEmail: string
    readonly currentPassword: string | undefined
    /** The caller's languages, for the mail with the link. */
    readonly languages: readonly string[]
  },
  source: RequestSource,
): Promise<void> {
  const { user } = who
  await requireReAuthentication(ctx, who, currentPassword, source)
  const email = await admit(ctx, newEmail)
  const { emailVerificationTTL, notifySecurityChanges } = await ctx.settings()
  // Each of them can name another address, which gets a mail that it did not ask for.
  await limitedSuccess(ctx.limits, 'addressChangePerUser', user.id, () =>
    ctx.limits.check('recoveryPerAddress', `change ${email}`),
  )
  // Beside the request: what differs for a taken address shows in no reply and no delay.
  ctx.background.run('mailing about another address', () =>
    sendLink(ctx, who, email, { typed: newEmail.trim(), ttlMs: emailVerificationTTL, languages }),
  )
  const at = ctx.clock.now()
  if (notifySecurityChanges)
    void mailOwner(ctx, user, { template: 'emailChangeRequested', data: { at } })
  ctx.emit('email.changeRequested', source, { at, userId: user.id })
}

/**
 * The same for an administrator. Whoever opens the link has the new mailbox, and moves the account. False where no
 * enabled person has the id. Throws `invalid_request`, `email_not_allowed`, `email_domain_not_allowed`, `email_taken`,
 * `rate_limited`, and `email_not_verified` for an account that somebody may hold whose mailbox nobody proved.
 */
export async function requestEmailChangeOf(
  ctx: SurfaceContext,
  userId: string,
  newEmail: string,
  { actorId, source }: Act,
): Promise<boolean> {
  const email = await admit(ctx, newEmail)
  const user = isUuid(userId) ? await ctx.collections.users.get(userId) : null
  if (user === null || !isHuman(user) || !user.enabled) return false
  if (user.email === email) {
    const detail = '"newEmail" must be another address than the present one.'
    throw new AuthError('invalid_request', { detail })
  }
  // The new mailbox would be proved, and the password and sessions those of whoever had the account.
  const isHeld = user.selfRegistered || user.passwordHash !== null
  if (isHeld && user.emailVerifiedAt === null) throw new AuthError('email_not_verified')
  const [holder] = await ctx.collections.users.find({ email }, { limit: 1 })
  if (holder !== undefined) throw new AuthError('email_taken')
  await ctx.limits.check('recoveryPerAddress', `change ${email}`)
  const { emailVerificationTTL: ttlMs, notifySecurityChanges } = await ctx.settings()
  const terms = { typed: newEmail.trim(), ttlMs, languages: [] }
  await sendLink(ctx, { user, sessionId: byAdministrator }, email, terms)
  const at = ctx.clock.now()
  if (notifySecurityChanges)
    void mailOwner(ctx, user, { template: 'emailChangeRequested', data: { at } })
  // `email.changeRequested` says that the owner asked.
  ctx.emit('email.verificationRequested', source, { at, userId, actorId })
  return true
}

/**
 * Spends the link. Voids every link mailed before, sessions go on. The mailbox alone does not move an
 * account: the session that asked has to come with the link, or the account's password. Throws
 * `current_password_required`, `password_login_disabled`, `invalid_credentials`, `rate_limited`, and where the
 * settings of today forbid the address `email_domain_not_allowed` and `email_not_allowed`, which spend nothing, and
 * `invalid_token` when another account has the address by now.
 */
export async function confirmEmailChange(
  ctx: SurfaceContext,
  opened: OpenedIntent<'changeEmail'>,
  asker: AddressAsker,
  source: RequestSource,
): Promise<void> {
  const intent = spendIntent(opened)
  const seen = intent.user
  const email = await readEmail(intent.stored.payload.email)
  if (email === null) throw new AuthError('invalid_token')
  await requireAsker(ctx, intent, asker, source)
  // Today's settings. An earlier request with this link may have moved it: that one counts.
  if (!intent.isWritten) await admit(ctx, email)
  const { notifySecurityChanges } = await ctx.settings()
  const moved = await move(ctx, intent, email)
  if (moved === null) throw new AuthError('invalid_token')
  const isOurs = moved.by === 'this'
  const at = ctx.clock.now()
  // Only a caller who saw the earlier address can write to it: rather twice than never.
  const mayNotify = notifySecurityChanges && seen.email !== email
  const tell = () =>
    mailOwner(ctx, seen, { template: 'emailChanged', data: { at, newEmail: email } })
  if (isOurs && mayNotify) void tell()
  // A stranger who guessed at the new address before does not keep out its owner.
  await clearPasswordFailures(ctx, email)
  // Taken last, and deciding: a crash before this leaves a token that works once more.
  if (!(await take(ctx, intent, isOurs))) throw new AuthError('invalid_token')
  if (!isOurs && mayNotify) void tell()
  ctx.emit('email.changed', source, { at, userId: seen.id })
}
