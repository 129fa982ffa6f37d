import type { HashLine } from '../../crypto/hash-gate.js'
import { isUuid, uuidv7 } from '../../crypto/uuid.js'
import { admissionRefusal, admissionRules } from '../../engine/admission.js'
import { canonicalEmail } from '../../engine/email.js'
import { isVerificationRequired } from '../../engine/owner-proof.js'
import { settingsFor } from '../../engine/surface-settings.js'
import { AuthError } from '../../errors/index.js'
import { newUser } from '../../model/new-user.js'
import { isHuman, type User } from '../../model/user.js'
import type { RequestSource } from '../../ports/request-source.js'
import type { Act } from '../context/actor.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { MailedIntents } from '../intents/mailed-intents.js'
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

export interface RegistrationInput {
  readonly email: string
  readonly password: string
  readonly name?: string | undefined
  readonly acceptedTermsVersion?: string | undefined
}

export type RegistrationResult =
  /** Also for an address that has an account: its owner gets a mail instead. */
  { readonly status: 'verificationRequired' } | LoginResult

/** A link that confirms an address, and what came with it. */
export interface ShownLink extends AddressAsker {
  readonly token: string
  readonly newPassword?: string | undefined
}

export interface Registration {
  register(input: RegistrationInput, source: RequestSource): Promise<RegistrationResult>
  /**
   * Confirms the address a token was mailed to, of a new account or another one of an account there
   * is. Throws `invalid_token`, `token_expired`, and what `MailboxConfirmation.confirm` or
   * `EmailChange.confirm` throws.
   */
  verifyEmail(shown: ShownLink, source: RequestSource): Promise<void>
  /** Mails a new link when there is an unverified account; the caller learns nothing. */
  resendVerification(email: string, source: RequestSource): Promise<void>
  /**
   * The same for an administrator, who learns whether there is such a person: throws `user_not_found`
   * and `email_already_verified`. A disabled user gets no mail.
   */
  resendTo(userId: string, act: Act): Promise<void>
}

type Choice = Pick<
  User,
  'emailAsTyped' | 'name' | 'passwordHash' | 'passwordChangedAt' | 'termsVersion'
>

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

/** As long as any link that sets a password. */
const choiceLinkMs = 60 * 60 * 1000

interface Services {
  readonly pipeline: LoginPipeline
  readonly mailedIntents: MailedIntents
  readonly emailChange: EmailChange
  readonly confirmation: MailboxConfirmation
}

export function createRegistration(deps: Deps, services: Services): Registration {
  const { pipeline, mailedIntents, emailChange } = services
  const { surface, clock } = deps
  const { users } = deps.collections

  async function admit(input: RegistrationInput, line: HashLine): Promise<string> {
    const rules = admissionRules(surface, await deps.settings())
    const email = canonicalEmail(input.email)
    const acceptedTerms = input.acceptedTermsVersion ?? ''
    const refusal = admissionRefusal(
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

  /**
   * Two registered this address and neither confirmed it: whose it is, a click on a link cannot
   * show, since either may have caused the mail. So neither password stays in force, and the link
   * that goes out lets the owner of the mailbox choose one. Null for an account that was confirmed,
   * used, or made by the host.
   */
  async function contest(email: string): Promise<User | null> {
    const [user] = await users.find({ email }, { limit: 1 })
    if (!user?.selfRegistered || user.emailVerifiedAt !== null) return null
    const { id, credentialEpoch, passwordHash } = user
    // Contested before: doing it again would only void the owner's link.
    if (passwordHash === null) return user
    return users.update(
      id,
      { credentialEpoch, emailVerifiedAt: null, lastLoginAt: null, enabled: true },
      {
        passwordHash: null,
        passwordChangedAt: null,
        name: '',
        credentialEpoch: credentialEpoch + 1,
        updatedAt: clock.now(),
      },
    )
  }

  /** For an account without a password: the link confirms the address and sets one. */
  async function sendChoice(user: User): Promise<void> {
    const terms = { ttlMs: choiceLinkMs, mailedTo: user.email, sessionId: null }
    const ticket = await mailedIntents.issue(user, { purpose: 'resetPassword', ...terms })
    deps.mail.resetPassword(user, ticket)
  }

  async function sendVerification(user: User, linkMs: number): Promise<void> {
    const terms = { ttlMs: linkMs, mailedTo: user.email, sessionId: null }
    deps.mail.verifyEmail(
      user,
      await mailedIntents.issue(user, { purpose: 'verifyEmail', ...terms }),
    )
  }

  async function mayNotifyOwner(email: string): Promise<boolean> {
    try {
      await deps.limits.check('recoveryPerAddress', `register ${email}`)
      return true
    } catch (error) {
      if (error instanceof AuthError && error.code === 'rate_limited') return false
      throw error
    }
  }

  /** The owner of a taken address is notified, not the caller; and three times an hour at most. */
  async function mailAboutTaken(email: string): Promise<void> {
    // First, and whether or not a mail may still go out.
    const contested = await contest(email)
    if (!(await mayNotifyOwner(email))) return
    if (contested !== null) await sendChoice(contested)
    else deps.mail.accountExists({ email, name: '' })
  }

  function sendAgain({ actorId, source }: Act, waiting: User | null, linkMs: number): void {
    if (waiting !== null) {
      const isContested = waiting.selfRegistered && waiting.passwordHash === null
      deps.background.run('mailing a new link', () =>
        isContested ? sendChoice(waiting) : sendVerification(waiting, linkMs),
      )
    }
    const facts = { actorId, userId: waiting?.id ?? null }
    deps.emit('email.verificationRequested', source, facts)
  }

  return {
    async register(input, source) {
      const line = networkLine(surface, source)
      const email = await admit(input, line)
      const settings = await deps.settings()
      const { emailVerificationTTL } = settings
      const choice = await chosen(input, line)
      const user = await insert(choice, email)
      if (user === null) deps.emit('account.registrationRepeated', source, {})
      else deps.emit('account.registered', source, { userId: user.id })
      if (isVerificationRequired(settings, settingsFor(surface, settings))) {
        // Beside the request: what differs for a taken address shows in no reply and no delay.
        deps.background.run('mailing about a registration', () =>
          user === null ? mailAboutTaken(email) : sendVerification(user, emailVerificationTTL),
        )
        return { status: 'verificationRequired' }
      }
      if (user === null) throw new AuthError('email_taken')
      const first: FirstFactor = {
        user,
        method: 'password',
        amr: ['pwd'],
        delivery: 'cookie',
        factors: null,
        second: null,
      }
      return pipeline.proceed(first, source)
    },

    async verifyEmail({ token, newPassword, ...asker }, source) {
      if (mailedIntents.purposeOf(token) === 'changeEmail') {
        const opened = await mailedIntents.open(token, ['changeEmail'])
        return emailChange.confirm(opened, asker, source)
      }
      const opened = await mailedIntents.open(token, ['verifyEmail'])
      return services.confirmation.confirm(opened, newPassword, source)
    },

    async resendVerification(typed, source) {
      const { emailVerificationTTL } = await deps.settings()
      const email = canonicalEmail(typed)
      if (email === null) throw new AuthError('invalid_request')
      await deps.limits.check('recoveryPerAddress', `verify ${email}`)
      const [user] = await users.find({ email }, { limit: 1 })
      const isWaiting = user?.enabled && user.kind === '' && user.emailVerifiedAt === null
      const waiting = isWaiting ? user : null
      sendAgain({ actorId: null, source }, waiting, emailVerificationTTL)
    },

    async resendTo(userId, act) {
      const { emailVerificationTTL } = await deps.settings()
      const user = isUuid(userId) ? await users.get(userId) : null
      if (user === null || !isHuman(user)) throw new AuthError('user_not_found')
      if (user.emailVerifiedAt !== null) throw new AuthError('email_already_verified')
      await deps.limits.check('recoveryPerAddress', `verify for ${user.email}`)
      sendAgain(act, user.enabled ? user : null, emailVerificationTTL)
    },
  }
}
