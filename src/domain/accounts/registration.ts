import type { HashLine } from '../../crypto/hash-gate.js'
import { isUuid, uuidv7 } from '../../crypto/secrets.js'
import { entryRefusal, entryRules, isVerificationRequired } from '../../engine/accounts.js'
import { settingsFor } from '../../engine/surface-settings.js'
import { AuthError } from '../../errors/index.js'
import { isHuman, newUser, type PendingRegistration, type User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import { fullPage } from '../../stores/pages.js'
import { type Act, type Actor, actBy, hostPage } from '../context/actor.js'
import { readEmail, requireEmail } from '../context/email-address.js'
import {
  findConfirmed,
  issueMailedTicket,
  mailedKindOf,
  openMailedTicket,
  openRegistrationTicket,
  takeRegistrationLinks,
} from '../intents/login-intents.js'
import {
  byPassword,
  registrationOfUser,
  registrationsOfAddress,
  takeRegistration,
} from '../intents/pending-registrations.js'
import { type FirstFactor, type LoginResult, proceedLogin } from '../login/login-pipeline.js'
import { mailVerifyEmail } from '../mail/mail-service.js'
import {
  keepForLink,
  mailRegisteredAgain,
  registrationLifetime,
  type WaitingForLink,
} from '../mail/registration-mails.js'
import { checkPasswordOfLink, networkLine } from '../passwords/password-check.js'
import { checkNewPassword } from '../passwords/password-writer.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import { askBeforeRegister } from '../surface/ways-in.js'
import { type AddressAsker, confirmEmailChange } from './profile.js'
import {
  confirmMailbox,
  confirmRegistration,
  type ShownBeginning,
} from './registration-confirmation.js'

export interface RegistrationInput {
  readonly email: string
  readonly password: string
  readonly name?: string | undefined
  readonly acceptedTermsVersion?: string | undefined
}

export type RegistrationResult =
  /** Also for an address that has an account: its owner gets a mail instead. */
  WaitingForLink | LoginResult

/** Where an answer goes, and what the browser or app keeps of its registrations; null without. */
export interface Registrant extends Pick<FirstFactor, 'delivery' | 'recognition'> {
  readonly registrationKey: string | null
  /** For the mail about the registration. */
  readonly languages: readonly string[]
}

/** A link that confirms an address, and what came with it. */
export interface ShownLink extends AddressAsker, ShownBeginning {
  readonly token: string
}

interface Choice
  extends Pick<User, 'emailAsTyped' | 'name' | 'passwordChangedAt' | 'termsVersion'> {
  readonly passwordHash: string
}

/** An account that waits for a link; one without a user is still to be made. */
interface Waiting {
  readonly id: string
  readonly email: string
  readonly user: User | null
}

async function admit(
  ctx: SurfaceContext,
  input: RegistrationInput,
  line: HashLine,
): Promise<string> {
  const rules = entryRules(ctx.surface, await ctx.settings())
  const email = await readEmail(input.email)
  const acceptedTerms = input.acceptedTermsVersion ?? ''
  const refusal = entryRefusal(
    'register',
    rules,
    email === null ? {} : { applicant: { email, acceptedTerms } },
  )
  if (refusal !== null) throw new AuthError(refusal)
  if (email === null) return requireEmail(input.email, 'email')
  await askBeforeRegister(ctx, email, 'password')
  await checkNewPassword(ctx, input.password, { email, name: input.name ?? '', line })
  return email
}

/** What the registering person chose. */
async function chosen(ctx: SurfaceContext, input: RegistrationInput, line: HashLine) {
  return {
    emailAsTyped: input.email.trim(),
    name: input.name ?? '',
    passwordHash: await ctx.passwords.hash(input.password, line),
    passwordChangedAt: ctx.clock.now(),
    termsVersion: input.acceptedTermsVersion ?? null,
  }
}

async function insert(ctx: SurfaceContext, choice: Choice, email: string): Promise<User | null> {
  const now = ctx.clock.now()
  const user = newUser(now, {
    id: uuidv7(now, ctx.random),
    email,
    ...choice,
    selfRegistered: true,
  })
  return (await ctx.collections.users.insert(user)) ? user : null
}

async function sendVerification(
  ctx: SurfaceContext,
  user: User,
  languages: readonly string[],
): Promise<void> {
  const terms = { user, boundTo: user.email, payload: {}, lifeMs: await registrationLifetime(ctx) }
  const ticket = await issueMailedTicket(ctx, 'verifyEmail', terms)
  mailVerifyEmail(ctx, user, ticket, languages)
}

function sendAgain(
  ctx: SurfaceContext,
  { actorId, source }: Act,
  waiting: Waiting | null,
  languages: readonly string[],
): void {
  if (waiting?.user) {
    const { user } = waiting
    ctx.background.run('mailing a new link', () => sendVerification(ctx, user, languages))
  } else if (waiting !== null) {
    mailRegisteredAgain(ctx, waiting.email, languages)
  }
  ctx.emit('email.verificationRequested', source, { actorId, userId: waiting?.id ?? null })
}

/** What waits for a link to this address: an account that is not proved, or one to be. */
async function waitingAt(ctx: SurfaceContext, email: string): Promise<Waiting | null> {
  const [[user], registered] = await Promise.all([
    ctx.collections.users.find({ email }, { limit: 1 }),
    registrationsOfAddress(ctx, email),
  ])
  if (user === undefined) return registered === null ? null : { ...registered, user: null }
  const isWaiting = user.enabled && isHuman(user) && user.emailVerifiedAt === null
  return isWaiting ? { id: user.id, email, user } : null
}

/**
 * Makes the account at once where no address has to be confirmed. Else keeps the registration, reads
 * no account and mails to the address: the answer and its cost do not tell whether it is taken. Throws
 * `email_taken` in the first case alone, and what refuses a registration.
 */
export async function register(
  ctx: SurfaceContext,
  input: RegistrationInput,
  { registrationKey, languages, ...to }: Registrant,
  source: RequestSource,
): Promise<RegistrationResult> {
  const line = networkLine(ctx.surface, source)
  const email = await admit(ctx, input, line)
  const settings = await ctx.settings()
  const choice = await chosen(ctx, input, line)
  if (isVerificationRequired(settings, settingsFor(ctx.surface, settings))) {
    const { passwordChangedAt: _, ...registered } = { email, ...choice, ...byPassword }
    return keepForLink(ctx, registered, { registrationKey, languages }, source)
  }
  const user = await insert(ctx, choice, email)
  if (user === null) {
    ctx.emit('account.registrationRepeated', source, {})
    throw new AuthError('email_taken')
  }
  ctx.emit('account.registered', source, { userId: user.id })
  const first: FirstFactor = {
    user,
    method: 'password',
    amr: ['pwd'],
    ...to,
    factors: null,
    second: null,
  }
  return proceedLogin(ctx, first, source)
}

/**
 * Confirms the address a token was mailed to: that of a registration, that of an account, or a new one
 * that an account is to have. The browser or app that confirmed a registration or an account may send the same for ten
 * minutes, which changes nothing. Throws `invalid_token`, `token_expired`, and what
 * `confirmRegistration`, `confirmMailbox` or `confirmEmailChange` throws.
 */
export async function verifyEmail(
  ctx: SurfaceContext,
  link: ShownLink,
  source: RequestSource,
): Promise<void> {
  try {
    await confirm(ctx, link, source)
  } catch (error) {
    const isRefused = error instanceof AuthError && error.code === 'invalid_token'
    if (!isRefused || !(await wasConfirmed(ctx, link))) throw error
  }
}

/** Another password than the one that was chosen is not answered as if it had been taken. */
async function wasConfirmed(
  ctx: SurfaceContext,
  { token, registrationKey, newPassword }: ShownLink,
): Promise<boolean> {
  const found = await findConfirmed(ctx, token, registrationKey)
  if (found === null || newPassword === undefined) return found !== null
  return checkPasswordOfLink(ctx, found, found.user, newPassword)
}

async function confirm(
  ctx: SurfaceContext,
  { token, ...shown }: ShownLink,
  source: RequestSource,
): Promise<void> {
  const kind = mailedKindOf(token)
  if (kind === 'register') {
    return confirmRegistration(ctx, await openRegistrationTicket(ctx, token), shown, source)
  }
  if (kind === 'changeEmail') {
    const opened = await openMailedTicket(ctx, token, 'changeEmail')
    return confirmEmailChange(ctx, opened, shown, source)
  }
  const opened = await openMailedTicket(ctx, token, 'verifyEmail')
  return confirmMailbox(ctx, opened, shown, source)
}

/** Mails a new link for an account or a registration that is not confirmed; the caller learns nothing. */
export async function resendVerification(
  ctx: SurfaceContext,
  typed: string,
  languages: readonly string[],
  source: RequestSource,
): Promise<void> {
  const email = await requireEmail(typed, 'email')
  await ctx.limits.check('recoveryPerAddress', `verify ${email}`)
  sendAgain(ctx, { actorId: null, source }, await waitingAt(ctx, email), languages)
}

/**
 * The same for an administrator, who names the user, or the user to be of a registration, and learns
 * whether there is one: throws `user_not_found` and `email_already_verified`. A disabled user gets no
 * mail.
 */
export async function resendVerificationTo(
  ctx: SurfaceContext,
  userId: string,
  act: Act,
): Promise<void> {
  const isId = isUuid(userId)
  const user = isId ? await ctx.collections.users.get(userId) : null
  const registered = isId && user === null ? await registrationOfUser(ctx, userId) : null
  const email = user?.email ?? registered?.email
  if (email === undefined || (user !== null && !isHuman(user))) {
    throw new AuthError('user_not_found')
  }
  if (user !== null && user.emailVerifiedAt !== null) {
    throw new AuthError('email_already_verified')
  }
  await ctx.limits.check('recoveryPerAddress', `verify for ${email}`)
  sendAgain(ctx, act, user?.enabled === false ? null : { id: userId, email, user }, [])
}

/** A registration whose mailbox is not proved: a stranger can register any address. */
export interface RegistrationRecord {
  /** The id of the user to be. */
  readonly id: string
  readonly email: string
  readonly name: string
  readonly termsVersion: string | null
  /** Epoch milliseconds. */
  readonly createdAt: number
  readonly expiresAt: number
}

/** A page of registrations. */
export interface RegistrationPage {
  /** Oldest first. Those of the same millisecond have no defined order. */
  readonly registrations: readonly RegistrationRecord[]
  /** The `after` of the next page; null on the last page. */
  readonly next: string | null
}

/** The page of registrations to read. */
export interface RegistrationPageRequest {
  /** 1 to 200. Default 50. */
  readonly limit?: number
  /** The `next` of the previous page. Default: the first page. */
  readonly after?: string
}

/**
 * The registrations of one surface that wait for their confirmation, for the host's code: no permission
 * is checked. An address can have several, made in different browsers or apps. Methods throw
 * `service_unavailable` when the store fails.
 */
export interface Registrations {
  /** Those that are live. Throws `invalid_request` for a page out of bounds. */
  list(page?: RegistrationPageRequest): Promise<RegistrationPage>
  /**
   * Mails a link to its address once more; earlier ones stay good. False for an unknown id. Throws
   * `rate_limited` from the fourth in an hour on.
   */
  resend(id: string, by?: Actor): Promise<boolean>
  /**
   * Removes it, and the links to its address unless another registration waits there. False for an
   * unknown id.
   */
  remove(id: string): Promise<boolean>
}

export function createRegistrations(ctx: SurfaceContext): Registrations {
  const ofUser = async (id: string) => (isUuid(id) ? registrationOfUser(ctx, id) : null)

  return {
    async list(request = {}) {
      const page = hostPage(request)
      const found = await Promise.all(
        ['password', 'provider'].map((method) =>
          fullPage(ctx.collections.pendingRegistrations, { method }, page.read),
        ),
      )
      const inOrder = found.flat().sort((one, other) => (one.id < other.id ? -1 : 1))
      const { shown, next } = page.cut(inOrder)
      const now = ctx.clock.now()
      return { registrations: shown.filter(({ expiresAt }) => expiresAt > now).map(recordOf), next }
    },

    async resend(id, by = {}) {
      const { actorId, source } = actBy(by)
      const found = await ofUser(id)
      if (found === null) return false
      await ctx.limits.check('recoveryPerAddress', `verify for ${found.email}`)
      mailRegisteredAgain(ctx, found.email, [])
      ctx.emit('email.verificationRequested', source, { actorId, userId: id })
      return true
    },

    async remove(id) {
      const found = await ofUser(id)
      if (found === null) return false
      // Links first: repeated after a rejection, it goes on.
      const equal = { email: found.email }
      const others = await ctx.collections.pendingRegistrations.find(equal, { limit: 2 })
      const isLast = others.every((other) => other.id === id)
      if (isLast) await takeRegistrationLinks(ctx.collections, found.email)
      return takeRegistration(ctx, found)
    },
  }
}

function recordOf(registration: PendingRegistration): RegistrationRecord {
  const { id, emailAsTyped: email, name, termsVersion, createdAt, expiresAt } = registration
  return { id, email, name, termsVersion, createdAt, expiresAt }
}
