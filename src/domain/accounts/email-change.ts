import { entryRefusal, entryRules } from '../../engine/accounts.js'
import { canonicalEmail } from '../../engine/addresses.js'
import { settingsFor } from '../../engine/surface-settings.js'
import { AuthError } from '../../errors/index.js'
import type { User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import { keepEnrolledFactor } from '../context/enrolled-factors.js'
import type { SignedIn } from '../context/principal.js'
import { requireReAuthentication } from '../factors/step-up.js'
import {
  type OpenedIntent,
  type SpentIntent,
  sessionRefusal,
  spendIntentLast,
} from '../intents/intent-judge.js'
import { issueMailedTicket, takeMailedTicket } from '../intents/mailed-intents.js'
import { limitedSuccess } from '../limits/rate-limiter.js'
import {
  mailAccountExists,
  mailChangeEmail,
  mailEmailChanged,
  mailEmailChangeRequested,
} from '../mail/mail-service.js'
import { checkPasswordOfLink, clearPasswordFailures } from '../passwords/password-check.js'
import type { SurfaceContext } from '../surface/surface-context.js'

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

const passwordsOff =
  'Passwords are switched off. Open the link where you asked for the change and are signed in, or ask for it again.'

async function admit(ctx: SurfaceContext, typed: string): Promise<string> {
  const rules = entryRules(ctx.surface, await ctx.settings())
  const email = canonicalEmail(typed)
  if (email === null) throw new AuthError('invalid_request')
  const applicant = { email, acceptedTerms: '' }
  const refusal = entryRefusal('addressChange', rules, { applicant })
  if (refusal !== null) throw new AuthError(refusal)
  return email
}

/** An earlier link is void either way. The account's present address needs no confirmation. */
async function sendLink(
  ctx: SurfaceContext,
  { user, sessionId }: SignedIn,
  email: string,
  { typed, ttlMs, languages }: LinkTerms,
): Promise<void> {
  const terms = { ttlMs, mailedTo: typed, sessionId }
  const ticket = await issueMailedTicket(ctx, user, { purpose: 'changeEmail', ...terms })
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
  return isOurs && (await ctx.collections.tickets.get(intent.payload.id)) !== null
}

/** Whose write gave the account the address; null when it does not have it. */
async function move(
  ctx: SurfaceContext,
  intent: ChangeIntent,
  email: string,
): Promise<{ readonly by: 'this' | 'other' } | null> {
  const { user, payload } = intent
  if (isMoved(user, email, intent)) return { by: 'other' }
  const { credentialEpoch, sessionEpoch, deviceEpoch } = payload
  await keepEnrolledFactor(ctx.collections, user)
  const now = ctx.clock.now()
  const moved = await ctx.collections.users.update(
    user.id,
    // An owner alarmed by the notice ends all sessions, which also voids what one of them asked for.
    { credentialEpoch, sessionEpoch, deviceEpoch, enabled: true, kind: '' },
    {
      email,
      emailAsTyped: payload.email,
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
  { user, payload, isWritten }: ChangeIntent,
  { sessionId, currentPassword }: AddressAsker,
  source: RequestSource,
): Promise<void> {
  if (isWritten) return
  if (sessionId !== null && sessionId === payload.sessionId) {
    // Its access token outlives the session by a little; the right to go on with this does not.
    if ((await sessionRefusal(ctx, user, sessionId)) === null) return
  }
  const { passwordLoginEnabled } = settingsFor(ctx.surface, await ctx.settings())
  // While passwords are off, one that is left proves nothing.
  if (!passwordLoginEnabled)
    throw new AuthError('password_login_disabled', { detail: passwordsOff })
  if (currentPassword === undefined) throw new AuthError('current_password_required')
  if (await checkPasswordOfLink(ctx, payload, user, currentPassword)) return
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
  if (notifySecurityChanges) mailEmailChangeRequested(ctx, user, at)
  ctx.emit('email.changeRequested', source, { at, userId: user.id })
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
  const intent = spendIntentLast(opened)
  const seen = intent.user
  const email = canonicalEmail(intent.payload.email)
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
  if (isOurs && mayNotify) mailEmailChanged(ctx, seen, { at, newEmail: email })
  // A stranger who guessed at the new address before does not keep out its owner.
  await clearPasswordFailures(ctx, email)
  // Taken last, and deciding: a crash before this leaves a token that works once more.
  if (!(await take(ctx, intent, isOurs))) throw new AuthError('invalid_token')
  if (!isOurs && mayNotify) mailEmailChanged(ctx, seen, { at, newEmail: email })
  ctx.emit('email.changed', source, { at, userId: seen.id })
}
