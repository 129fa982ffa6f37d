import {
  type AccountEntry,
  beginning,
  type EntryFacts,
  type EntryRules,
  entryRefusal,
  entryRules,
  type LinkProof,
  linkProof,
} from '../../engine/accounts.js'
import { settingsFor } from '../../engine/surface-settings.js'
import { AuthError } from '../../errors/index.js'
import {
  newUser,
  type OauthIdentity,
  type PendingRegistration,
  type User,
} from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import { type OpenedIntent, type SpentIntent, spendIntent } from '../intents/intents.js'
import { noteConfirmed, takeMailedTicket } from '../intents/login-intents.js'
import { registrationsBoundTo, takeRegistration } from '../intents/pending-registrations.js'
import { mailAddressTaken } from '../mail/registration-mails.js'
import { holdIdentity, takeBackIdentity } from '../oauth/oauth-links.js'
import {
  checkPasswordOfLink,
  clearPasswordFailures,
  linkLine,
} from '../passwords/password-check.js'
import { checkNewPassword, type OwnerFacts, proveOwner } from '../passwords/password-writer.js'
import { endAllSessions } from '../sessions/session-endings.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import { isIssuerAdmitted, isProviderOffered, takeBackUsed } from '../surface/ways-in.js'

// Makes an account of a proved address.

/** What comes with a mailed link. */
export interface ShownBeginning {
  readonly newPassword?: string | undefined
  readonly name?: string | undefined
  readonly acceptedTermsVersion?: string | undefined
  /** What the browser or app keeps of its registrations; null without. */
  readonly registrationKey: string | null
}

interface Attempt {
  readonly registered: PendingRegistration | null
  readonly shown: ShownBeginning
  readonly source: RequestSource
}

/** A link to an address without an account, which is judged by its own conditions. */
type Link = SpentIntent<'register', null>

function admit(entry: AccountEntry, rules: EntryRules, comer?: EntryFacts): void {
  const refusal = entryRefusal(entry, rules, comer)
  if (refusal !== null) throw new AuthError(refusal)
}

async function passwordOf(
  ctx: SurfaceContext,
  { id, stored: { boundTo: email } }: Link,
  registered: PendingRegistration | null,
  { newPassword, name }: ShownBeginning,
) {
  if (newPassword === undefined && registered !== null) {
    return registered.method === 'provider'
      ? { passwordHash: null, passwordChangedAt: null }
      : { passwordHash: registered.passwordHash, passwordChangedAt: registered.createdAt }
  }
  const password = newPassword ?? ''
  const line = linkLine(ctx.surface, id)
  const called = name ?? registered?.name ?? ''
  await checkNewPassword(ctx, password, { email, name: called, line })
  const passwordHash = await ctx.passwords.hash(password, line)
  return { passwordHash, passwordChangedAt: ctx.clock.now() }
}

async function accountOf(
  ctx: SurfaceContext,
  link: Link,
  registered: PendingRegistration | null,
  shown: ShownBeginning,
  terms: string,
): Promise<User> {
  const { boundTo: email, userId } = link.stored
  const password = await passwordOf(ctx, link, registered, shown)
  const now = ctx.clock.now()
  return newUser(now, {
    id: registered?.id ?? userId,
    email,
    emailAsTyped: registered?.emailAsTyped ?? email,
    emailVerifiedAt: now,
    name: shown.name ?? registered?.name ?? '',
    selfRegistered: true,
    ...password,
    termsVersion: terms === '' ? null : terms,
    lastIntentId: link.id,
  })
}

/** The account that this link made in an earlier attempt, which was cut off before the link was taken. */
async function madeByLink(
  ctx: SurfaceContext,
  { id, stored: { boundTo: email } }: Link,
): Promise<User | null> {
  const [owner] = await ctx.collections.users.find({ email }, { limit: 1 })
  return owner?.lastIntentId === id ? owner : null
}

async function insert(ctx: SurfaceContext, user: User): Promise<boolean> {
  try {
    return await ctx.collections.users.insert(user)
  } catch (error) {
    const found = await ctx.collections.users.get(user.id)
    // The answer was lost, and the write may have taken effect. Another request with this link has another hash.
    const isOurs = found?.passwordHash === user.passwordHash
    if (isOurs && found.lastIntentId === user.lastIntentId) return true
    throw error
  }
}

async function make(ctx: SurfaceContext, user: User, source: RequestSource): Promise<boolean> {
  if (!(await insert(ctx, user))) return false
  // Ids are never used again: a deletion that came between leaves its note for longer.
  if (await takeBackUsed(ctx.collections, user.id)) throw new AuthError('invalid_token')
  const facts = { at: user.createdAt, userId: user.id }
  ctx.emit('account.registered', source, facts)
  ctx.emit('email.verified', source, facts)
  return true
}

/**
 * The account at a provider that waits with a registration; it names the account that is to be made, as a sign-up's does.
 * `null` if another account has it by now, or the provider's users may not sign in.
 */
async function heldIdentity(
  ctx: SurfaceContext,
  { id, provider, issuer, subject }: PendingRegistration,
): Promise<OauthIdentity | null> {
  if (provider === null || issuer === null || subject === null) return null
  const profile = { provider, issuer, subject }
  const settings = await ctx.settings()
  const isOffered = isProviderOffered(ctx, provider, settings)
  return isOffered && isIssuerAdmitted(ctx, profile, settings)
    ? holdIdentity(ctx, profile, id)
    : null
}

/** Makes the account if the settings of today allow it; null where this is done, else the one that is there. */
async function begin(
  ctx: SurfaceContext,
  link: Link,
  { registered, shown, source }: Attempt,
): Promise<User | null> {
  const { boundTo: email } = link.stored
  const rules = entryRules(ctx.surface, await ctx.settings())
  const isByProvider = registered?.method === 'provider'
  const needsPassword = !isByProvider || shown.newPassword !== undefined
  const entry = needsPassword ? 'register' : 'providerSignUp'
  admit(entry, rules)
  if (beginning(registered !== null, shown.newPassword !== undefined) === 'ask') {
    throw new AuthError('password_choice_required')
  }
  const acceptedTerms = shown.acceptedTermsVersion ?? registered?.termsVersion ?? ''
  admit(entry, rules, { applicant: { email, acceptedTerms } })
  const user = await accountOf(ctx, link, registered, shown, acceptedTerms)
  // Before the account, as at a sign-up, and after all that may be refused.
  const identity = isByProvider ? await heldIdentity(ctx, registered) : null
  if (isByProvider && identity === null) {
    return begin(ctx, link, { registered: null, shown, source })
  }
  if (await make(ctx, user, source)) return null
  // The account that any link of this registration made, even if its address changed since; or that this link made.
  const made = (await ctx.collections.users.get(user.id)) ?? (await madeByLink(ctx, link))
  if (identity !== null && made?.id !== identity.userId) await takeBackIdentity(ctx, identity)
  if (made !== null) return made
  mailAddressTaken(ctx, email)
  await takeMailedTicket(ctx, link)
  throw new AuthError('invalid_token')
}

/** Another password is not taken in the place of the one that was chosen, nor answered as if it were. */
async function requireChosen(
  ctx: SurfaceContext,
  made: User,
  link: Link,
  { shown, registered }: Attempt,
) {
  const { newPassword } = shown
  const isSame =
    newPassword === undefined
      ? registered === null || registered.id === made.id
      : await checkPasswordOfLink(ctx, link.stored, made, newPassword)
  if (!isSame) throw new AuthError('invalid_token')
}

async function finish(
  ctx: SurfaceContext,
  link: Link,
  { registered, shown }: Attempt,
): Promise<void> {
  await clearPasswordFailures(ctx, link.stored.boundTo)
  if (registered !== null) await takeRegistration(ctx, registered)
  await noteConfirmed(ctx, link, shown.registrationKey)
  // Last: until here the same link makes no second account and completes what is there.
  await takeMailedTicket(ctx, link)
}

/**
 * With what was registered in the same browser or app, which may be an account at a provider, else with
 * `newPassword`; today's settings
 * decide whether it may be made. Repeat it after a rejection: the account is made once. A repetition
 * needs the same password, or none. Throws `password_choice_required`, which spends nothing,
 * `registration_disabled` and the like, `password_policy`, `invalid_token` when the address has an
 * account by now, and `rate_limited`.
 */
export async function confirmRegistration(
  ctx: SurfaceContext,
  opened: OpenedIntent<'register', null>,
  shown: ShownBeginning,
  source: RequestSource,
): Promise<void> {
  const link = spendIntent(opened)
  const { boundTo: email } = link.stored
  const registered = await registrationsBoundTo(ctx, shown.registrationKey, email)
  const attempt = { registered, shown, source }
  // What an earlier attempt made is completed, though registration was closed since.
  const made = (await madeByLink(ctx, link)) ?? (await begin(ctx, link, attempt))
  if (made !== null) await requireChosen(ctx, made, link, attempt)
  await finish(ctx, link, attempt)
}

// Confirms the address of an account that exists, with a link mailed to it.

/** What a caller sends beside the link. */
export interface ConfirmingOwner {
  readonly newPassword?: string | undefined
  readonly name?: string | undefined
  readonly acceptedTermsVersion?: string | undefined
  /** What the browser or app keeps of its registrations; `null` without. */
  readonly registrationKey: string | null
}

/** A link, and what came with it. */
interface Shown {
  readonly intent: SpentIntent<'verifyEmail'>
  readonly newPassword: string | undefined
  readonly owner: OwnerFacts
  readonly source: RequestSource
}

/** The password stays, and with it all that was made with it. */
async function keep(ctx: SurfaceContext, { intent, source }: Shown): Promise<void> {
  const { id, email, credentialEpoch, deviceEpoch } = intent.user
  const at = ctx.clock.now()
  // The device epoch moves with every password: the one that was compared is the one that stays.
  const epochs = { credentialEpoch, deviceEpoch }
  const guard = { emailVerifiedAt: null, ...epochs, email, enabled: true, kind: '' }
  const set = { emailVerifiedAt: at, lastIntentId: intent.id, updatedAt: at }
  if ((await ctx.collections.users.update(id, guard, set)) === null) {
    // The write of another request with this link, or ours, carried out twice by a driver.
    const found = await ctx.collections.users.get(id)
    const isProved = found !== null && found.emailVerifiedAt !== null
    if (isProved && found.credentialEpoch === credentialEpoch) return
    throw new AuthError('invalid_token')
  }
  // The account stays with the person that made it: `account.ownerProved` would have hosts drop their data.
  ctx.emit('email.verified', source, { at, userId: id })
}

async function prove(ctx: SurfaceContext, shown: Shown, newPassword: string | null): Promise<void> {
  const { intent, owner, source } = shown
  const { user } = intent
  const proved = await proveOwner(ctx, user, { by: intent, newPassword, owner, source })
  if (proved === null) throw new AuthError('invalid_token')
  await endAllSessions(ctx, user.id, 'password_change', source)
}

async function apply(ctx: SurfaceContext, how: LinkProof, shown: Shown): Promise<void> {
  const { intent, newPassword } = shown
  if (how === 'ask' || (how === 'compare' && newPassword === undefined)) {
    throw new AuthError('password_choice_required')
  }
  if (how === 'compare' && newPassword !== undefined) {
    const isPresent = await checkPasswordOfLink(ctx, intent.stored, intent.user, newPassword)
    return isPresent ? keep(ctx, shown) : prove(ctx, shown, newPassword)
  }
  return prove(ctx, shown, how === 'choose' ? (newPassword ?? null) : null)
}

/**
 * An earlier request proved the mailbox and the rest was not done: the same request again completes
 * it. Another password is not taken in the place of the one that was chosen.
 */
async function goOn(ctx: SurfaceContext, { intent, newPassword, source }: Shown): Promise<void> {
  const { user, stored } = intent
  // The password stayed, or there was nothing to retire.
  if (user.credentialEpoch === stored.credentialEpoch) return
  if (user.passwordHash !== null) {
    const isOurs = newPassword !== undefined && checkPasswordOfLink(ctx, stored, user, newPassword)
    if (!(await isOurs)) throw new AuthError('invalid_token')
  }
  await endAllSessions(ctx, user.id, 'password_change', source)
}

/**
 * The account comes to the owner of the mailbox, see `proveOwner`. An account with a password needs
 * `newPassword`: a stranger may have made the account. If it is the password that the account has,
 * that stays, and so do its sessions. Throws `password_choice_required`, which spends nothing,
 * `invalid_token`, `password_policy` and `rate_limited`.
 */
export async function confirmMailbox(
  ctx: SurfaceContext,
  opened: OpenedIntent<'verifyEmail'>,
  { newPassword, name, acceptedTermsVersion, registrationKey }: ConfirmingOwner,
  source: RequestSource,
): Promise<void> {
  const intent = spendIntent(opened)
  const { user } = intent
  const owner = { name, termsVersion: acceptedTermsVersion ?? null }
  const shown = { intent, newPassword, owner, source }
  if (intent.isWritten) {
    await goOn(ctx, shown)
  } else if (user.emailVerifiedAt === null) {
    const settings = settingsFor(ctx.surface, await ctx.settings())
    await apply(ctx, linkProof(user, settings, newPassword !== undefined), shown)
  }
  // A stranger who guessed at the password does not keep out the owner, who is proved.
  await clearPasswordFailures(ctx, user.email)
  await noteConfirmed(ctx, intent, registrationKey)
  // Taken last, and deciding: a crash before this leaves a token that works once more.
  if (!(await takeMailedTicket(ctx, intent))) throw new AuthError('invalid_token')
}
