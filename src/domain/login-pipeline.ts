import {
  decideSecondFactor,
  type EnrolledFactors,
  type SecondFactorMethod,
} from '../engine/second-factor.js'
import { settingsFor } from '../engine/surface-settings.js'
import { AuthError, describeError } from '../errors.js'
import type { LoginTicket } from '../model/login-ticket.js'
import { isHuman, type User } from '../model/user.js'
import { enrolledFactors } from './enrolled-factors.js'
import type { IssuedLoginTicket, LoginTickets } from './login-tickets.js'
import type { Occasion } from './occasion.js'
import type { OpenedSession, Sessions } from './sessions.js'
import type { StepUp } from './step-up.js'
import type { SurfaceDeps } from './surface-deps.js'
import type { Tickets } from './tickets.js'

/** A first factor that was accepted, and how. */
export interface FirstFactor {
  readonly user: User
  /** `password` */
  readonly method: string
  /** RFC 8176 */
  readonly amr: readonly string[]
  /** Where the refresh token goes. */
  readonly delivery: 'cookie' | 'body'
  /** What `lookUp` gave for this user; null lets the pipeline look itself. */
  readonly factors: FactorsOfUser | null
}

const lookedUp = Symbol('lookedUp')

/** What a user can show a second factor with, as the pipeline itself read it. */
export interface FactorsOfUser {
  readonly [lookedUp]: EnrolledFactors
  readonly userId: string
}

export type LoginResult =
  | { readonly status: 'authenticated'; readonly session: OpenedSession }
  /** The password is right but too old (S-18); the token is spent by a password reset. */
  | { readonly status: 'passwordChangeRequired'; readonly passwordToken: string }
  | (IssuedLoginTicket & {
      readonly status: 'mfaRequired'
      readonly methods: readonly SecondFactorMethod[]
    })
  /** The policy wants a second factor; the token is good for enrolling one and nothing else. */
  | (IssuedLoginTicket & { readonly status: 'mfaEnrollmentRequired' })

const cleared = Symbol('cleared')

/**
 * A login that passed every step. Only the pipeline can make one and only one of these opens a
 * session, so that no way of signing in can leave out a step.
 */
export interface ClearedLogin {
  readonly [cleared]: true
  readonly user: User
  readonly loginMethod: string
  readonly mfaMethod: SecondFactorMethod | null
  readonly amr: readonly string[]
}

/** What every login goes through, whatever its first factor was. */
export interface LoginPipeline {
  /** For a first factor to read ahead, beside a slower check of its own. */
  lookUp(userId: string): Promise<FactorsOfUser>
  /**
   * Account state, factor policy, password age, session, in this order. Throws
   * `invalid_credentials` and `email_not_verified`.
   */
  proceed(first: FirstFactor, occasion: Occasion): Promise<LoginResult>
  /**
   * Goes on where a ticket was issued, its second factor just accepted. Throws
   * `mfa_ticket_invalid` when the ticket was spent, or the account changed since.
   */
  complete(
    ticket: LoginTicket,
    shown: { readonly method: SecondFactorMethod; readonly amr: readonly string[] },
    occasion: Occasion,
  ): Promise<LoginResult>
}

type Deps = Pick<SurfaceDeps, 'surface' | 'collections' | 'clock' | 'settings' | 'emit' | 'logger'>

interface Services {
  readonly sessions: Sessions
  readonly tickets: Tickets
  readonly loginTickets: LoginTickets
  readonly stepUp: StepUp
}

/** A token for a password that must be replaced now (decisions on S-18). */
const passwordTokenMs = 5 * 60 * 1000

export function createLoginPipeline(deps: Deps, services: Services): LoginPipeline {
  const { surface, clock, collections } = deps
  const { sessions, tickets, loginTickets, stepUp } = services

  function announceFailure(
    { user, method }: Pick<FirstFactor, 'user' | 'method'>,
    reason: 'email_not_verified' | 'password_expired',
    occasion: Occasion,
  ): void {
    const about = { surface, at: clock.now(), ...occasion, userId: user.id }
    deps.emit({ type: 'login.failed', ...about, method, reason })
  }

  /** Said only to who showed a first factor. */
  async function checkAccount(first: FirstFactor, occasion: Occasion): Promise<void> {
    if (!first.user.enabled || !isHuman(first.user)) throw new AuthError('invalid_credentials')
    const { emailVerificationRequired } = await deps.settings()
    if (emailVerificationRequired && first.user.emailVerifiedAt === null) {
      announceFailure(first, 'email_not_verified', occasion)
      throw new AuthError('email_not_verified')
    }
  }

  async function lookUp(userId: string): Promise<FactorsOfUser> {
    return { [lookedUp]: await enrolledFactors(collections, userId), userId }
  }

  async function decide({ user, factors }: FirstFactor) {
    const settings = await deps.settings()
    const { mfaPolicy: policy } = settingsFor(surface, settings)
    const allowed = { totp: settings.totpEnabled }
    const known = factors?.userId === user.id ? factors : await lookUp(user.id)
    return decideSecondFactor({ policy, enrolled: known[lookedUp], allowed })
  }

  async function issueTicket(
    first: FirstFactor,
    purpose: LoginTicket['purpose'],
    occasion: Occasion,
  ): Promise<IssuedLoginTicket> {
    const { user, method, amr, delivery } = first
    const { id: userId, sessionEpoch, credentialEpoch } = user
    const issued = await loginTickets.issue({
      userId,
      purpose,
      loginMethod: method,
      amr,
      delivery,
      sessionEpoch,
      credentialEpoch,
    })
    const about = { surface, at: clock.now(), ...occasion, userId }
    deps.emit({ type: 'mfa.required', ...about, method, missing: purpose })
    return issued
  }

  const open = (login: Omit<ClearedLogin, typeof cleared>, occasion: Occasion) =>
    sessions.open({ [cleared]: true, ...login }, occasion)

  /** Of a login that showed a second factor: it is a proof of this moment (T-42). */
  async function openProved(
    login: Omit<ClearedLogin, typeof cleared> & { readonly mfaMethod: SecondFactorMethod },
    occasion: Occasion,
  ): Promise<OpenedSession> {
    const session = await open(login, occasion)
    try {
      await stepUp.record(session.user, session.sessionId, login.mfaMethod)
    } catch (error) {
      // The login stands; without the proof a later step-up asks once more.
      deps.logger.warn('a login left no step-up proof', describeError(error))
    }
    return session
  }

  async function mustChangePassword(
    how: Pick<FirstFactor, 'user' | 'method'>,
    occasion: Occasion,
  ): Promise<LoginResult | null> {
    const { passwordMaxAge } = await deps.settings()
    const { user, method } = how
    if (method !== 'password' || passwordMaxAge === null) return null
    if (clock.now() - (user.passwordChangedAt ?? user.createdAt) <= passwordMaxAge) return null
    const { token } = await tickets.issue(user, 'expiredPassword', passwordTokenMs, false)
    announceFailure(how, 'password_expired', occasion)
    return { status: 'passwordChangeRequired', passwordToken: token }
  }

  return {
    lookUp,

    async proceed(first, occasion) {
      await checkAccount(first, occasion)
      const decision = await decide(first)
      if (decision.kind === 'ask') {
        const { methods } = decision
        return {
          status: 'mfaRequired',
          ...(await issueTicket(first, 'secondFactor', occasion)),
          methods,
        }
      }
      // After the second factor, where there is one: a known password alone replaces no password.
      const tooOld = await mustChangePassword(first, occasion)
      if (tooOld !== null) return tooOld
      if (decision.kind === 'enroll') {
        return {
          status: 'mfaEnrollmentRequired',
          ...(await issueTicket(first, 'enrollment', occasion)),
        }
      }
      const { user, method: loginMethod, amr } = first
      const session = await open({ user, loginMethod, mfaMethod: null, amr }, occasion)
      return { status: 'authenticated', session }
    },

    async complete(ticket, shown, occasion) {
      const user = await collections.users.get(ticket.userId)
      const isSame =
        user?.sessionEpoch === ticket.sessionEpoch &&
        user.credentialEpoch === ticket.credentialEpoch
      // Taken before the session is opened: a crash in between costs a login, and gives none away.
      if (!isSame || !user.enabled || !isHuman(user) || !(await loginTickets.take(ticket))) {
        throw new AuthError('mfa_ticket_invalid')
      }
      const { loginMethod } = ticket
      const tooOld = await mustChangePassword({ user, method: loginMethod }, occasion)
      if (tooOld !== null) return tooOld
      const amr = [...new Set([...ticket.amr, ...shown.amr, 'mfa'])]
      const login = { user, loginMethod, mfaMethod: shown.method, amr }
      return { status: 'authenticated', session: await openProved(login, occasion) }
    },
  }
}
