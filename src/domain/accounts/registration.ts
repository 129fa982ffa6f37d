import type { HashLine } from '../../crypto/hash-gate.js'
import { isUuid, uuidv7 } from '../../crypto/secrets.js'
import { entryRefusal, entryRules, isVerificationRequired } from '../../engine/accounts.js'
import { canonicalEmail } from '../../engine/addresses.js'
import { settingsFor } from '../../engine/surface-settings.js'
import { AuthError } from '../../errors/index.js'
import { isHuman, newUser, type User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import type { Act } from '../context/actor.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { MailedIntents } from '../intents/mailed-intents.js'
import type { PendingRegistrations } from '../intents/pending-registrations.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import type { FirstFactor } from '../login/first-factor.js'
import type { LoginPipeline } from '../login/login-pipeline.js'
import type { LoginResult } from '../login/login-result.js'
import type { MailService } from '../mail/mail-service.js'
import { networkLine } from '../passwords/hash-lines.js'
import type { PasswordHashes } from '../passwords/password-hashes.js'
import type { PasswordRules } from '../passwords/password-rules.js'
import type { AddressAsker, EmailChange } from './email-change.js'
import type { MailboxConfirmation } from './mailbox-confirmation.js'
import type { RegistrationConfirmation, ShownBeginning } from './registration-confirmation.js'
import type { RegistrationMails } from './registration-mails.js'

export interface RegistrationInput {
  readonly email: string
  readonly password: string
  readonly name?: string | undefined
  readonly acceptedTermsVersion?: string | undefined
}

export type RegistrationResult =
  /** Also for an address that has an account: its owner gets a mail instead. */
  | {
      readonly status: 'verificationRequired'
      /** For the browser or app to keep: with it, a mailed link makes an account of this registration. */
      readonly registrationKey: string
      /** Whole seconds. */
      readonly expiresIn: number
    }
  | LoginResult

/** Where an answer goes, and what the browser or app keeps of its registrations; null without. */
export interface Registrant extends Pick<FirstFactor, 'delivery' | 'recognition' | 'linkKey'> {
  readonly registrationKey: string | null
  /** For the mail about the registration. */
  readonly languages: readonly string[]
}

/** A link that confirms an address, and what came with it. */
export interface ShownLink extends AddressAsker, ShownBeginning {
  readonly token: string
}

export interface Registration {
  /**
   * Makes the account at once where no address has to be confirmed. Else keeps the registration, reads
   * no account and mails to the address: the answer and its cost do not tell whether it is taken. Throws
   * `email_taken` in the first case alone, and what refuses a registration.
   */
  register(
    input: RegistrationInput,
    registrant: Registrant,
    source: RequestSource,
  ): Promise<RegistrationResult>
  /**
   * Confirms the address a token was mailed to: that of a registration, that of an account, or a new one
   * that an account is to have. Throws `invalid_token`, `token_expired`, and what
   * `RegistrationConfirmation.confirm`, `MailboxConfirmation.confirm` or `EmailChange.confirm` throws.
   */
  verifyEmail(shown: ShownLink, source: RequestSource): Promise<void>
  /** Mails a new link for an account or a registration that is not confirmed; the caller learns nothing. */
  resendVerification(
    email: string,
    languages: readonly string[],
    source: RequestSource,
  ): Promise<void>
  /**
   * The same for an administrator, who names the user, or the user to be of a registration, and learns
   * whether there is one: throws `user_not_found` and `email_already_verified`. A disabled user gets no
   * mail.
   */
  resendTo(userId: string, act: Act): Promise<void>
}

interface Choice
  extends Pick<User, 'emailAsTyped' | 'name' | 'passwordChangedAt' | 'termsVersion'> {
  readonly passwordHash: string
}

interface Deps
  extends Pick<
    SurfaceContext,
    'surface' | 'collections' | 'clock' | 'random' | 'settings' | 'background' | 'emit'
  > {
  readonly limits: RateLimiter
  readonly passwords: PasswordHashes
  readonly passwordRules: PasswordRules
  readonly mail: MailService
}

/** An account that waits for a link; one without a user is still to be made. */
interface Waiting {
  readonly id: string
  readonly email: string
  readonly user: User | null
}

interface Services {
  readonly pipeline: LoginPipeline
  readonly mailedIntents: MailedIntents
  readonly emailChange: EmailChange
  readonly confirmation: MailboxConfirmation
  readonly beginnings: RegistrationConfirmation
  readonly mails: RegistrationMails
  readonly pendingRegistrations: PendingRegistrations
}

export function createRegistration(deps: Deps, services: Services): Registration {
  const { pipeline, mailedIntents, emailChange, mails, pendingRegistrations } = services
  const { surface, clock } = deps
  const { users } = deps.collections

  async function admit(input: RegistrationInput, line: HashLine): Promise<string> {
    const rules = entryRules(surface, await deps.settings())
    const email = canonicalEmail(input.email)
    const acceptedTerms = input.acceptedTermsVersion ?? ''
    const refusal = entryRefusal(
      'register',
      rules,
      email === null ? {} : { applicant: { email, acceptedTerms } },
    )
    if (refusal !== null) throw new AuthError(refusal)
    if (email === null) throw new AuthError('invalid_request')
    await deps.passwordRules.check(input.password, { email, name: input.name ?? '', line })
    return email
  }

  /** What the registering person chose. */
  async function chosen(input: RegistrationInput, line: HashLine) {
    return {
      emailAsTyped: input.email.trim(),
      name: input.name ?? '',
      passwordHash: await deps.passwords.hash(input.password, line),
      passwordChangedAt: clock.now(),
      termsVersion: input.acceptedTermsVersion ?? null,
    }
  }

  async function insert(choice: Choice, email: string): Promise<User | null> {
    const now = clock.now()
    const user = newUser(now, {
      id: uuidv7(now, deps.random),
      email,
      ...choice,
      selfRegistered: true,
    })
    return (await users.insert(user)) ? user : null
  }

  async function sendVerification(user: User, languages: readonly string[]): Promise<void> {
    const terms = { ttlMs: await mails.lifeMs(), mailedTo: user.email, sessionId: null }
    const ticket = await mailedIntents.issue(user, { purpose: 'verifyEmail', ...terms })
    deps.mail.verifyEmail(user, ticket, languages)
  }

  async function keep(
    email: string,
    choice: Choice,
    { registrationKey: shown, languages }: Pick<Registrant, 'registrationKey' | 'languages'>,
    source: RequestSource,
  ): Promise<RegistrationResult> {
    const { passwordChangedAt: _, ...registered } = choice
    const lifeMs = await mails.lifeMs()
    const kept = await pendingRegistrations.keep({ email, ...registered }, shown, lifeMs)
    deps.emit('account.registrationRequested', source, { userId: kept.registration.id })
    mails.registered(email, languages, source)
    const { registrationKey } = kept
    return { status: 'verificationRequired', registrationKey, expiresIn: lifeMs / 1000 }
  }

  function sendAgain(
    { actorId, source }: Act,
    waiting: Waiting | null,
    languages: readonly string[],
  ): void {
    if (waiting?.user) {
      const { user } = waiting
      deps.background.run('mailing a new link', () => sendVerification(user, languages))
    } else if (waiting !== null) {
      mails.again(waiting.email, languages)
    }
    deps.emit('email.verificationRequested', source, { actorId, userId: waiting?.id ?? null })
  }

  /** What waits for a link to this address: an account that is not proved, or one to be. */
  async function waitingAt(email: string): Promise<Waiting | null> {
    const [[user], registered] = await Promise.all([
      users.find({ email }, { limit: 1 }),
      pendingRegistrations.ofAddress(email),
    ])
    if (user === undefined) return registered === null ? null : { ...registered, user: null }
    const isWaiting = user.enabled && isHuman(user) && user.emailVerifiedAt === null
    return isWaiting ? { id: user.id, email, user } : null
  }

  return {
    async register(input, { registrationKey, languages, ...to }, source) {
      const line = networkLine(surface, source)
      const email = await admit(input, line)
      const settings = await deps.settings()
      const choice = await chosen(input, line)
      if (isVerificationRequired(settings, settingsFor(surface, settings))) {
        return keep(email, choice, { registrationKey, languages }, source)
      }
      const user = await insert(choice, email)
      if (user === null) {
        deps.emit('account.registrationRepeated', source, {})
        throw new AuthError('email_taken')
      }
      deps.emit('account.registered', source, { userId: user.id })
      const first: FirstFactor = {
        user,
        method: 'password',
        amr: ['pwd'],
        ...to,
        factors: null,
        second: null,
      }
      return pipeline.proceed(first, source)
    },

    async verifyEmail({ token, ...shown }, source) {
      const purpose = mailedIntents.purposeOf(token)
      if (purpose === 'register') {
        return services.beginnings.confirm(
          await mailedIntents.openRegistration(token),
          shown,
          source,
        )
      }
      if (purpose === 'changeEmail') {
        const opened = await mailedIntents.open(token, ['changeEmail'])
        return emailChange.confirm(opened, shown, source)
      }
      const opened = await mailedIntents.open(token, ['verifyEmail'])
      return services.confirmation.confirm(opened, shown, source)
    },

    async resendVerification(typed, languages, source) {
      const email = canonicalEmail(typed)
      if (email === null) throw new AuthError('invalid_request')
      await deps.limits.check('recoveryPerAddress', `verify ${email}`)
      sendAgain({ actorId: null, source }, await waitingAt(email), languages)
    },

    async resendTo(userId, act) {
      const isId = isUuid(userId)
      const user = isId ? await users.get(userId) : null
      const registered = isId && user === null ? await pendingRegistrations.ofUser(userId) : null
      const email = user?.email ?? registered?.email
      if (email === undefined || (user !== null && !isHuman(user))) {
        throw new AuthError('user_not_found')
      }
      if (user !== null && user.emailVerifiedAt !== null) {
        throw new AuthError('email_already_verified')
      }
      await deps.limits.check('recoveryPerAddress', `verify for ${email}`)
      sendAgain(act, user?.enabled === false ? null : { id: userId, email, user }, [])
    },
  }
}
