import {
  allowedFactors,
  decideSecondFactor,
  type EnrolledFactors,
  type SecondFactorDecision,
  type SecondFactorMethod,
} from '../../engine/second-factor.js'
import { settingsFor } from '../../engine/surface-settings.js'
import { AuthError, describeError } from '../../errors/index.js'
import type { LoginTicket } from '../../model/login-ticket.js'
import type { TrustedDevice } from '../../model/trusted-device.js'
import { isHuman, type User } from '../../model/user.js'
import type { RequestSource } from '../../ports/request-source.js'
import type { PastLogin } from '../../ports/risk-scorer.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { enrolledFactors } from '../factors/enrolled-factors.js'
import type { StepUp } from '../factors/step-up.js'
import type { DeviceGrant, TrustedDevices } from '../factors/trusted-devices.js'
import type { Tickets } from '../mail/tickets.js'
import { clearedLogin, type LoginFacts } from '../sessions/cleared-login.js'
import type { OpenedSession, Sessions } from '../sessions/sessions.js'
import type { FederatedLogin } from './federated-login.js'
import { isStillGood } from './is-still-good.js'
import type { JudgedLogin, LoginRisk } from './login-risk.js'
import type { IssuedLoginTicket, LoginTickets } from './login-tickets.js'

/** A first factor that was accepted, and how. */
export interface FirstFactor {
  readonly user: User
  /** `password`, `webauthn` */
  readonly method: string
  /** RFC 8176 */
  readonly amr: readonly string[]
  /** Where the refresh token goes. */
  readonly delivery: 'cookie' | 'body'
  /** What `lookUp` gave for this user; null lets the pipeline look itself. */
  readonly factors: FactorsOfUser | null
  /** The second factor that came with it; null of a factor that is only a first one. */
  readonly second: ShownSecond | null
  /** What the device sent to be known by; left out where none can come along. */
  readonly deviceToken?: string | null
  /** Of a login through an identity provider; left out of all others. */
  readonly federated?: ProviderFacts
  /** Wrong guesses at it that were counted right before. */
  readonly failedAttempts?: number
}

/** What a login by a provider hangs on until it is complete. */
type ProviderFacts = Pick<LoginTicket, 'identityId' | 'browserHash' | 'oauthCodeId'>

const localLogin: ProviderFacts = { identityId: '', browserHash: '', oauthCodeId: '' }

/** A second factor that was accepted, and how. */
export interface ShownSecond {
  readonly method: SecondFactorMethod
  /** RFC 8176 */
  readonly amr: readonly string[]
  /** Whether it is a step-up proof of this moment as well. */
  readonly isProof: boolean
}

const lookedUp = Symbol('lookedUp')

/** What a user can show a second factor with, and their past logins, as the pipeline itself read it. */
export interface FactorsOfUser {
  readonly [lookedUp]: EnrolledFactors
  readonly history: readonly PastLogin[]
  readonly userId: string
}

export type LoginResult =
  | {
      readonly status: 'authenticated'
      readonly session: OpenedSession
      /** For the device to keep, where it was to be trusted from now on. */
      readonly device?: DeviceGrant
    }
  /** The password is right but too old; the token is spent by a password reset. */
  | { readonly status: 'passwordChangeRequired'; readonly passwordToken: string }
  | (IssuedLoginTicket & {
      readonly status: 'mfaRequired'
      readonly methods: readonly SecondFactorMethod[]
    })
  /** The policy wants a second factor; the token is good for enrolling one and nothing else. */
  | (IssuedLoginTicket & { readonly status: 'mfaEnrollmentRequired' })

/** That the device a login comes from is to be trusted from now on. */
export interface TrustRequest {
  /** Empty when it has none. */
  readonly name: string
}

/** What every login goes through, whatever its first factor was. */
export interface LoginPipeline {
  /** For a first factor to read ahead, beside a slower check of its own. */
  lookUp(userId: string): Promise<FactorsOfUser>
  /**
   * Account state, factor policy, trusted device, risk, password age, session, in this order. Throws
   * `invalid_credentials` and `email_not_verified`, and `invalid_token` for an app's code that came
   * again meanwhile.
   */
  proceed(first: FirstFactor, source: RequestSource): Promise<LoginResult>
  /**
   * Goes on where a ticket was issued, its second factor just accepted. Throws
   * `mfa_ticket_invalid` when the ticket was spent, or the account changed since, and
   * `email_not_verified`. With `trust`, call `TrustedDevices.requireAllowed` before the factor is
   * spent.
   */
  complete(
    ticket: LoginTicket,
    shown: ShownSecond,
    source: RequestSource,
    trust?: TrustRequest | null,
  ): Promise<LoginResult>
}

type Deps = Pick<
  SurfaceContext,
  'surface' | 'collections' | 'clock' | 'settings' | 'emit' | 'logger'
>

interface Services {
  readonly sessions: Sessions
  readonly tickets: Tickets
  readonly loginTickets: LoginTickets
  readonly federated: FederatedLogin
  readonly stepUp: StepUp
  readonly devices: TrustedDevices
  readonly risk: LoginRisk
}

/** A token for a password that must be replaced now. */
const passwordTokenMs = 5 * 60 * 1000

export function createLoginPipeline(deps: Deps, services: Services): LoginPipeline {
  const { surface, clock, collections } = deps
  const { sessions, tickets, loginTickets, federated, stepUp, devices, risk } = services

  function emitFailure(
    { user, method }: Pick<FirstFactor, 'user' | 'method'>,
    reason: 'email_not_verified' | 'password_expired',
    source: RequestSource,
  ): void {
    deps.emit('login.failed', source, { userId: user.id, method, reason })
  }

  /** Said only to who showed a first factor. */
  async function checkAccount(first: FirstFactor, source: RequestSource): Promise<void> {
    if (!first.user.enabled || !isHuman(first.user)) throw new AuthError('invalid_credentials')
    await checkAddress(first, source)
  }

  async function checkAddress(
    how: Pick<FirstFactor, 'user' | 'method'>,
    source: RequestSource,
  ): Promise<void> {
    const { emailVerificationRequired } = await deps.settings()
    if (emailVerificationRequired && how.user.emailVerifiedAt === null) {
      emitFailure(how, 'email_not_verified', source)
      throw new AuthError('email_not_verified')
    }
  }

  async function lookUp(userId: string): Promise<FactorsOfUser> {
    const [enrolled, history] = await Promise.all([
      enrolledFactors(collections, userId),
      risk.historyOf(userId),
    ])
    return { [lookedUp]: enrolled, history, userId }
  }

  async function known({ user, factors }: FirstFactor): Promise<FactorsOfUser> {
    return factors?.userId === user.id ? factors : lookUp(user.id)
  }

  async function decide(
    enrolled: EnrolledFactors,
    { second }: FirstFactor,
  ): Promise<SecondFactorDecision> {
    if (second !== null) return { kind: 'none' }
    const settings = await deps.settings()
    const { mfaPolicy: policy } = settingsFor(surface, settings)
    const allowed = allowedFactors(settings)
    return decideSecondFactor({ policy, enrolled, allowed })
  }

  async function issueTicket(
    first: FirstFactor,
    purpose: LoginTicket['purpose'],
    source: RequestSource,
  ): Promise<IssuedLoginTicket> {
    const { user, method, amr, delivery } = first
    const { id: userId, sessionEpoch, credentialEpoch, deviceEpoch } = user
    const issued = await loginTickets.issue({
      userId,
      purpose,
      loginMethod: method,
      amr,
      delivery,
      ...(first.federated ?? localLogin),
      sessionEpoch,
      credentialEpoch,
      deviceEpoch,
    })
    deps.emit('mfa.required', source, { userId, method, missing: purpose })
    return issued
  }

  async function askFor(
    methods: readonly SecondFactorMethod[],
    first: FirstFactor,
    source: RequestSource,
  ): Promise<LoginResult> {
    const issued = await issueTicket(first, 'secondFactor', source)
    return { status: 'mfaRequired', ...issued, methods }
  }

  const open = (login: LoginFacts, source: RequestSource) =>
    sessions.open(clearedLogin(login), source)

  /** Of a login that showed a second factor: mostly it is a proof of this moment. */
  async function openShown(
    login: Omit<LoginFacts, 'mfaMethod'>,
    shown: ShownSecond,
    source: RequestSource,
  ): Promise<OpenedSession> {
    const amr = [...new Set([...login.amr, ...shown.amr, 'mfa'])]
    const session = await open({ ...login, mfaMethod: shown.method, amr }, source)
    if (!shown.isProof) return session
    try {
      // Of the epoch the factor was judged in: one changed meanwhile leaves no proof.
      await stepUp.record(login.user, session.sessionId, shown.method)
    } catch (error) {
      // The login stands; without the proof a later step-up asks once more.
      deps.logger.warn('a login left no step-up proof', describeError(error))
    }
    return session
  }

  /** Trusts the device of a login that showed a second factor; null where that could not be kept. */
  async function trustIts(
    { user, sessionId }: OpenedSession,
    deviceId: string,
    { name }: TrustRequest,
    source: RequestSource,
  ): Promise<DeviceGrant | null> {
    try {
      const grant = await devices.issue(user, deviceId, name)
      deps.emit('device.trusted', source, { userId: user.id, sessionId, deviceId })
      return grant
    } catch (error) {
      // The login stands; without the grant the next one asks once more.
      deps.logger.warn('a login left no trusted device', describeError(error))
      return null
    }
  }

  async function isTooOld({
    user,
    method,
  }: Pick<FirstFactor, 'user' | 'method'>): Promise<boolean> {
    const { passwordMaxAge } = await deps.settings()
    if (method !== 'password' || passwordMaxAge === null) return false
    return clock.now() - (user.passwordChangedAt ?? user.createdAt) > passwordMaxAge
  }

  async function mustChangePassword(
    how: Pick<FirstFactor, 'user' | 'method'>,
    source: RequestSource,
  ): Promise<LoginResult | null> {
    if (!(await isTooOld(how))) return null
    const { user } = how
    const { token } = await tickets.issue(user, 'expiredPassword', passwordTokenMs, null)
    emitFailure(how, 'password_expired', source)
    return { status: 'passwordChangeRequired', passwordToken: token }
  }

  /** The device that stands for the second factor; never for one that would set a password. */
  async function trustedDevice(first: FirstFactor): Promise<TrustedDevice | null> {
    if (await isTooOld(first)) return null
    return devices.recognise(first.user, first.deviceToken)
  }

  function judge(
    { user, method, second, failedAttempts = 0 }: FirstFactor,
    deviceId: string | null,
    history: readonly PastLogin[],
    source: RequestSource,
  ): Promise<JudgedLogin> {
    const mfaMethod = second?.method ?? null
    return risk.judge(user, { method, mfaMethod, deviceId, failedAttempts, history }, source)
  }

  function enter(
    { user, method, amr, second }: FirstFactor,
    deviceId: string | null,
    source: RequestSource,
  ): Promise<OpenedSession> {
    const login = { user, loginMethod: method, amr, deviceId }
    // A device is no factor: the session says of itself that it has shown one only.
    if (second === null) return open({ ...login, mfaMethod: null }, source)
    return openShown(login, second, source)
  }

  /** Before anybody is given it: an app's code that comes again has to find what it gave. */
  async function bindSession(
    session: OpenedSession,
    { oauthCodeId }: Pick<ProviderFacts, 'oauthCodeId'> = localLogin,
    refusal: 'invalid_token' | 'mfa_ticket_invalid',
    source: RequestSource,
  ): Promise<void> {
    if (!(await federated.bindSession(oauthCodeId, session, source))) throw new AuthError(refusal)
  }

  async function holderOf(ticket: LoginTicket): Promise<User> {
    const [user, isUnderWay] = await Promise.all([
      collections.users.get(ticket.userId),
      federated.isValid(ticket),
    ])
    if (user === null || !isUnderWay || !isStillGood(ticket, user)) {
      throw new AuthError('mfa_ticket_invalid')
    }
    return user
  }

  return {
    lookUp,

    async proceed(first, source) {
      await checkAccount(first, source)
      const { [lookedUp]: enrolled, history } = await known(first)
      const decision = await decide(enrolled, first)
      const asked = decision.kind === 'ask' ? decision.methods : null
      const device = asked === null ? null : await trustedDevice(first)
      if (asked !== null && device === null) return askFor(asked, first, source)
      const deviceId = device?.id ?? null
      const judged = await judge(first, deviceId, history, source)
      if (asked !== null && judged.level === 'high') return askFor(asked, first, source)
      // After the second factor, where there is one: a known password alone replaces no password.
      const tooOld = await mustChangePassword(first, source)
      if (tooOld !== null) return tooOld
      if (decision.kind === 'enroll') {
        return {
          status: 'mfaEnrollmentRequired',
          ...(await issueTicket(first, 'enrollment', source)),
        }
      }
      const session = await enter(first, deviceId, source)
      await bindSession(session, first.federated, 'invalid_token', source)
      risk.notify(session, judged, source)
      return { status: 'authenticated', session }
    },

    async complete(ticket, shown, source, trust = null) {
      const [user, history] = await Promise.all([holderOf(ticket), risk.historyOf(ticket.userId)])
      const { loginMethod } = ticket
      await checkAddress({ user, method: loginMethod }, source)
      // Taken before the session is opened: a crash in between costs a login, and gives none away.
      if (!(await loginTickets.take(ticket))) throw new AuthError('mfa_ticket_invalid')
      const tooOld = await mustChangePassword({ user, method: loginMethod }, source)
      if (tooOld !== null) return tooOld
      const deviceId = trust === null ? null : devices.nextId()
      const login = { user, loginMethod, amr: ticket.amr, deviceId }
      const inQuestion = {
        method: loginMethod,
        mfaMethod: shown.method,
        deviceId,
        failedAttempts: 0,
        history,
      }
      const judged = await risk.judge(user, inQuestion, source)
      const session = await openShown(login, shown, source)
      await bindSession(session, ticket, 'mfa_ticket_invalid', source)
      risk.notify(session, judged, source)
      const device =
        deviceId && trust ? await trustIts({ ...session, user }, deviceId, trust, source) : null
      return { status: 'authenticated', session, ...(device === null ? {} : { device }) }
    },
  }
}
