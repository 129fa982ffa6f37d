import { uuidv7 } from '../crypto/uuid.js'
import { canonicalEmail, isDomainAllowed, isUndeliverable } from '../engine/email.js'
import { settingsFor } from '../engine/surface-settings.js'
import { AuthError } from '../errors.js'
import type { User } from '../model/user.js'
import type { Occasion } from './occasion.js'
import type { OpenedSession, Sessions } from './sessions.js'
import type { SurfaceDeps } from './surface-deps.js'
import type { Tickets } from './tickets.js'

export interface RegistrationInput {
  readonly email: string
  readonly password: string
  readonly name?: string | undefined
  readonly acceptedTermsVersion?: string | undefined
}

export type RegistrationResult =
  /** Also for an address that has an account: its owner gets a mail instead (G-37). */
  | { readonly status: 'verificationRequired' }
  | { readonly status: 'authenticated'; readonly session: OpenedSession }

export interface Registration {
  register(input: RegistrationInput, occasion: Occasion): Promise<RegistrationResult>
  /** Confirms the address a token was mailed to. Throws `invalid_token` or `token_expired`. */
  verifyEmail(token: string, occasion: Occasion): Promise<void>
  /** Mails a new link when there is an unverified account; the caller learns nothing. */
  resendVerification(email: string, occasion: Occasion): Promise<void>
}

type Deps = Pick<
  SurfaceDeps,
  | 'surface'
  | 'collections'
  | 'clock'
  | 'random'
  | 'settings'
  | 'limits'
  | 'passwords'
  | 'passwordRules'
  | 'mail'
  | 'emit'
>

export function createRegistration(deps: Deps, sessions: Sessions, tickets: Tickets): Registration {
  const { surface, clock } = deps
  const { users } = deps.collections

  async function admit(input: RegistrationInput): Promise<string> {
    const settings = await deps.settings()
    const own = settingsFor(surface, settings)
    if (!own.registrationEnabled) throw new AuthError('registration_disabled')
    const email = canonicalEmail(input.email)
    if (email === null) throw new AuthError('invalid_request')
    if (isUndeliverable(email)) throw new AuthError('email_not_allowed')
    if (!isDomainAllowed(email, own.allowedDomains)) {
      throw new AuthError('email_domain_not_allowed')
    }
    const terms = settings.registrationTermsVersion
    if (terms !== '' && input.acceptedTermsVersion !== terms) {
      throw new AuthError('terms_not_accepted')
    }
    await deps.passwordRules.check(input.password, { email, name: input.name ?? '' })
    return email
  }

  async function insert(input: RegistrationInput, email: string): Promise<User | null> {
    const now = clock.now()
    const user: User = {
      id: uuidv7(now, deps.random),
      expiresAt: null,
      kind: '',
      email,
      emailAsTyped: input.email.trim(),
      emailVerifiedAt: null,
      name: input.name ?? '',
      systemRole: 'guest',
      enabled: true,
      passwordHash: await deps.passwords.hash(input.password),
      passwordChangedAt: now,
      termsVersion: input.acceptedTermsVersion ?? null,
      memberships: [],
      sessionEpoch: 0,
      keptSessionId: null,
      credentialEpoch: 0,
      createdAt: now,
      updatedAt: now,
      lastLoginAt: null,
    }
    return (await users.insert(user)) ? user : null
  }

  async function sendVerification(user: User): Promise<void> {
    const { emailVerificationTTL } = await deps.settings()
    deps.mail.verifyEmail(
      user,
      await tickets.issue(user, 'verifyEmail', emailVerificationTTL, true),
    )
  }

  /**
   * Counted for new and taken addresses alike: recovery shares this limit, and a hit on the taken
   * ones alone could be read off its 429.
   */
  async function mayTellOwner(email: string): Promise<boolean> {
    try {
      await deps.limits.check('recoveryPerAddress', email)
      return true
    } catch (error) {
      if (error instanceof AuthError && error.code === 'rate_limited') return false
      throw error
    }
  }

  /** The owner is told, not the caller. A new account always gets its link. */
  async function mailAbout(email: string, user: User | null): Promise<void> {
    const mayTell = await mayTellOwner(email)
    if (user !== null) return sendVerification(user)
    await tickets.decoy()
    if (mayTell) deps.mail.accountExists({ email, name: '' })
  }

  return {
    async register(input, occasion) {
      const email = await admit(input)
      const { emailVerificationRequired } = await deps.settings()
      const user = await insert(input, email)
      const about = { surface, at: clock.now(), ...occasion }
      deps.emit(
        user === null
          ? { type: 'account.registrationRepeated', ...about }
          : { type: 'account.registered', ...about, userId: user.id },
      )
      if (emailVerificationRequired) {
        await mailAbout(email, user)
        return { status: 'verificationRequired' }
      }
      if (user === null) throw new AuthError('email_taken')
      const facts = { loginMethod: 'password', amr: ['pwd'] }
      return { status: 'authenticated', session: await sessions.open(user, facts, occasion) }
    },

    async verifyEmail(token, occasion) {
      const ticket = await tickets.read(token, ['verifyEmail'])
      const now = clock.now()
      const user = await users.update(
        ticket.userId,
        { credentialEpoch: ticket.credentialEpoch, email: ticket.email, enabled: true },
        { emailVerifiedAt: now, updatedAt: now },
      )
      // Taken last, and deciding: a crash before this leaves a token that works once more.
      if (user === null || user === 'taken' || !(await tickets.take(ticket))) {
        throw new AuthError('invalid_token')
      }
      deps.emit({ type: 'email.verified', surface, at: now, ...occasion, userId: user.id })
    },

    async resendVerification(typed, occasion) {
      const email = canonicalEmail(typed)
      if (email === null) throw new AuthError('invalid_request')
      await deps.limits.check('recoveryPerAddress', email)
      const [user] = await users.find({ email }, { limit: 1 })
      const isWaiting = user?.enabled && user.kind === '' && user.emailVerifiedAt === null
      const waiting = isWaiting ? user : null
      await (waiting === null ? tickets.decoy() : sendVerification(waiting))
      deps.emit({
        type: 'email.verificationRequested',
        surface,
        at: clock.now(),
        ...occasion,
        userId: waiting?.id ?? null,
      })
    },
  }
}
